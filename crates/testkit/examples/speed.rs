use std::collections::BTreeMap;
fn main() {
    let mut groups: BTreeMap<(String, usize), Vec<testkit::vectors::Row>> = BTreeMap::new();
    for path in testkit::files(&testkit::filetests("instructions"), "vec").unwrap() {
        for row in testkit::vectors::read("x", &std::fs::read_to_string(path).unwrap()).unwrap() {
            groups.entry((row.form.spelling.clone(), row.form.results.len())).or_default().push(row);
        }
    }
    for ((name, n), rows) in groups {
        std::fs::write(format!("/tmp/dump/{name}.{n}.ptx"), testkit::vectors::module_text(&rows[0].form, &rows)).unwrap();
    }
}
