//! The names that a kernel's parameters have in its source.

/// The parameters of a kernel in a source text, in order, each with its name if it has one; none if the text does not
/// define the kernel.
pub(super) fn parameters(source: &str, kernel: &str) -> Option<Vec<Option<String>>> {
    let text = without_comments(source);
    text.match_indices(kernel).find_map(|(at, _)| {
        let before = &text[..at];
        let whole = !before.ends_with(is_word) && !text[at + kernel.len()..].starts_with(is_word);
        // The declaration begins behind the statement or the body before it.
        let declaration = &before[before.rfind([';', '}', '{']).map_or(0, |end| end + 1)..];
        let list = text[at + kernel.len()..].trim_start().strip_prefix('(')?;
        (whole && declaration.contains("__global__")).then(|| names(list))?
    })
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The names of the parameters of a list that ends with its closing parenthesis.
fn names(list: &str) -> Option<Vec<Option<String>>> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, character) in list.char_indices() {
        match character {
            '(' | '<' | '[' | '{' => depth += 1,
            ')' if depth == 0 => {
                parts.push(&list[start..at]);
                let none = parts.len() == 1 && matches!(parts[0].trim(), "" | "void");
                return Some(if none { Vec::new() } else { parts.into_iter().map(name).collect() });
            }
            ')' | '>' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    None
}

/// The name of a parameter: its last word, if there is a type before it.
fn name(parameter: &str) -> Option<String> {
    let declared = parameter.split('=').next()?;
    let declared = declared.split('[').next()?.trim_end();
    let start = declared.rfind(|character| !is_word(character)).map_or(0, |at| at + 1);
    let (ahead, name) = declared.split_at(start);
    let typed = ahead.contains(is_word) || ahead.contains('*');
    let is_type = ["int", "float", "double", "char", "short", "long", "unsigned", "bool", "const", "__restrict__"];
    (typed && !name.is_empty() && !name.starts_with(|it: char| it.is_ascii_digit()) && !is_type.contains(&name))
        .then(|| name.to_owned())
}

/// The same text with blanks for its comments.
fn without_comments(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find('/') {
        text.push_str(&rest[..at]);
        let comment = &rest[at..];
        let length = if comment.starts_with("//") {
            comment.find('\n').unwrap_or(comment.len())
        } else if comment.starts_with("/*") {
            comment.find("*/").map_or(comment.len(), |end| end + 2)
        } else {
            text.push('/');
            rest = &comment[1..];
            continue;
        };
        text.push(' ');
        rest = &comment[length..];
    }
    text.push_str(rest);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str) -> Option<Vec<Option<String>>> {
        parameters(source, "scale")
    }

    fn names(names: &[&str]) -> Option<Vec<Option<String>>> {
        Some(names.iter().map(|&name| (!name.is_empty()).then(|| name.to_owned())).collect())
    }

    #[test]
    fn names_are_the_last_words_of_parameters() {
        let source = "// scale(int wrong)\nint rescale(int x);\n__device__ float scale_one(float v) { return v; }\n\
            template <int N>\n__global__ void __launch_bounds__(64)\nscale(const float* __restrict__ in, float *out, // out, of course\n\
            int n = 3, const Pair<int, float> pair, int (&table)[4], unsigned)\n{ scale_one(1); }";
        assert_eq!(found(source), names(&["in", "out", "n", "pair", "", ""]));
        assert_eq!(found("__global__ void scale(float a[16], float b)"), names(&["a", "b"]));
        assert_eq!(found("__global__ void scale()"), names(&[]));
        assert_eq!(found("__global__ void scale( void )"), names(&[]));
    }

    #[test]
    fn what_is_no_definition_of_a_kernel_has_none() {
        assert_eq!(found("void scale(int n);"), None);
        assert_eq!(found("__global__ void rescale(int n);"), None);
        assert_eq!(found("__global__ void other(int n) { scale(n); }"), None);
        assert_eq!(found("__global__ void scale(int n"), None);
        assert_eq!(found("/* __global__ void scale(int n) */"), None);
    }
}
