//! The tables of ARCHITECTURE.md: which crate may depend on which, on which floor it stands, and what is found where.

use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the tables say.
#[derive(Debug)]
pub(super) struct Architecture {
    storeys: Vec<Storey>,
    rooms: Vec<PathBuf>,
}

/// A row of the table of crates.
#[derive(Debug)]
struct Storey {
    floor: u32,
    name: String,
    arrows: Arrows,
}

#[derive(Debug)]
enum Arrows {
    /// To each of these crates.
    To(BTreeSet<String>),
    /// To any crate that stands lower.
    All,
}

impl Architecture {
    /// Reads the tables.
    ///
    /// # Errors
    /// If one is missing, or a row has another form.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let storeys = rows(text, "floor").map(|row| Storey::parse(&row)).collect::<Result<Vec<_>>>()?;
        ensure!(!storeys.is_empty(), "find the table of crates in ARCHITECTURE.md: its first column is `floor`");
        let rooms: Vec<PathBuf> =
            rows(text, "to find").filter_map(|row| row.get(1).map(|cell| paths(cell))).flatten().collect();
        ensure!(!rooms.is_empty(), "find the table of rooms in ARCHITECTURE.md: its first column is `to find`");
        Ok(Self { storeys, rooms })
    }

    pub(super) fn crates(&self) -> impl Iterator<Item = &str> {
        self.storeys.iter().map(|storey| storey.name.as_str())
    }

    fn find(&self, name: &str) -> Option<&Storey> {
        self.storeys.iter().find(|storey| storey.name == name)
    }

    /// The table is listed by floor, and every arrow goes down.
    pub(super) fn check_floors(&self, wrong: &mut Vec<String>) {
        for pair in self.storeys.windows(2).filter(|pair| pair[0].floor > pair[1].floor) {
            let [above, below] = pair else { continue };
            wrong.push(format!(
                "{} (floor {}) is listed behind {} (floor {})",
                below.name, below.floor, above.name, above.floor
            ));
        }
        for from in &self.storeys {
            let Arrows::To(arrows) = &from.arrows else { continue };
            for to in arrows.iter().filter_map(|name| self.find(name)).filter(|to| to.floor >= from.floor) {
                wrong.push(format!(
                    "{} (floor {}) → {} (floor {}) does not go down",
                    from.name, from.floor, to.name, to.floor
                ));
            }
        }
    }

    /// The arrows of a crate are those of its row, each of them.
    pub(super) fn check_arrows(&self, name: &str, found: &BTreeSet<&str>, wrong: &mut Vec<String>) {
        let Some(storey) = self.find(name) else { return };
        match &storey.arrows {
            Arrows::All => {
                let up = |to: &&&str| self.find(to).is_none_or(|to| to.floor >= storey.floor);
                wrong.extend(found.iter().filter(up).map(|to| format!("{name} → {to} does not go down")));
            }
            Arrows::To(drawn) => {
                let drawn: BTreeSet<&str> = drawn.iter().map(String::as_str).collect();
                wrong.extend(
                    found.difference(&drawn).map(|to| format!("{name} → {to} is no arrow of the architecture")),
                );
                wrong.extend(
                    drawn.difference(found).map(|to| {
                        format!("{name} → {to} stands in the architecture, and the manifest does not need it")
                    }),
                );
            }
        }
    }

    /// What the table of rooms names is there.
    pub(super) fn check_rooms(&self, exists: &dyn Fn(&Path) -> bool, wrong: &mut Vec<String>) {
        for room in self.rooms.iter().filter(|room| !exists(room)) {
            wrong.push(format!("ARCHITECTURE.md names {}, which does not exist", room.display()));
        }
    }
}

impl Storey {
    /// `| floor | crate | what it is | arrows |`
    fn parse(row: &[String]) -> Result<Self> {
        let [floor, name, _, arrows] = row else {
            anyhow::bail!("read the table of crates: {} columns instead of 4 in `{}`", row.len(), row.join(" | "));
        };
        let floor = floor.parse().with_context(|| format!("read the floor of {name}: `{floor}` is no number"))?;
        let arrows = match arrows.as_str() {
            "all" => Arrows::All,
            "–" => Arrows::To(BTreeSet::new()),
            list => Arrows::To(list.split(", ").map(str::to_owned).collect()),
        };
        Ok(Self { floor, name: name.trim_matches('`').to_owned(), arrows })
    }
}

/// The rows below a head whose first column is called so.
fn rows(text: &str, first: &str) -> impl Iterator<Item = Vec<String>> {
    let head = format!("| {first} |");
    let rows = text.lines().skip_while(move |line| !line.starts_with(&head)).skip(2);
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.take_while(|line| line.starts_with('|')).map(cells)
}

/// The paths in a cell: the first word of each names a crate, or it lies beside the one before.
fn paths(cell: &str) -> Vec<PathBuf> {
    let quoted = cell.split('`').skip(1).step_by(2);
    let mut found: Vec<PathBuf> = Vec::new();
    for word in quoted.filter(|word| word.contains('/') || word.ends_with(".rs")) {
        let before = found.last().and_then(|path| path.parent());
        found.push(match before {
            Some(folder) if !word.contains("/src/") => folder.join(word),
            _ => Path::new("crates").join(word),
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
| floor | crate | what it is, and what it must not know | arrows |
|---|---|---|---|
| 1 | `ground` | – | – |
| 2 | `middle` | – | ground |
| 3 | `top` | – | all |

| to find | look in |
|---|---|
| a thing | `ground/src/thing.rs`, `beside.rs`; the `verb` of it in `inner/` |
";

    fn found(text: &str, check: impl Fn(&Architecture, &mut Vec<String>)) -> Vec<String> {
        let mut wrong = Vec::new();
        check(&Architecture::parse(text).unwrap(), &mut wrong);
        wrong
    }

    #[test]
    fn arrows_go_down_and_crates_are_listed_by_floor() {
        assert_eq!(found(TEXT, Architecture::check_floors), [""; 0]);
        let level = TEXT.replace("| 1 | `ground` | – | – |", "| 2 | `ground` | – | – |");
        assert_eq!(found(&level, Architecture::check_floors), ["middle (floor 2) → ground (floor 2) does not go down"]);
        let order = TEXT.replace("| 3 | `top` | – | all |", "| 3 | `top` | – | all |\n| 1 | `late` | – | – |");
        assert_eq!(found(&order, Architecture::check_floors), ["late (floor 1) is listed behind top (floor 3)"]);
    }

    #[test]
    fn a_crate_has_the_arrows_of_its_row_and_no_others() {
        let arrows = |of: &'static str, to: &'static [&str]| {
            found(TEXT, move |architecture, wrong| {
                architecture.check_arrows(of, &to.iter().copied().collect(), wrong);
            })
        };
        assert_eq!(arrows("middle", &["ground"]), [""; 0]);
        assert_eq!(arrows("ground", &["middle"]), ["ground → middle is no arrow of the architecture"]);
        let unused = "middle → ground stands in the architecture, and the manifest does not need it";
        assert_eq!(arrows("middle", &[]), [unused]);
        assert_eq!(arrows("top", &["middle", "ground"]), [""; 0]);
        assert_eq!(arrows("top", &["top"]), ["top → top does not go down"]);
    }

    #[test]
    fn every_room_of_the_map_is_there() {
        let missing = found(TEXT, |architecture, wrong| {
            architecture.check_rooms(&|path| path != Path::new("crates/ground/src/beside.rs"), wrong);
        });
        assert_eq!(missing, ["ARCHITECTURE.md names crates/ground/src/beside.rs, which does not exist"]);
        let rooms = Architecture::parse(TEXT).unwrap().rooms;
        let expect = ["thing.rs", "beside.rs", "inner/"].map(|name| Path::new("crates/ground/src").join(name));
        assert_eq!(rooms, expect);
    }
}
