//! Which words of a selection leave nothing of it.

use campaign::{SelectionWords, TargetError};

use crate::target::CapsuleTarget;

impl CapsuleTarget {
    pub(crate) fn nothing_selected(&self, words: &SelectionWords) -> TargetError {
        let without = self.words_in_the_way(words).map_or_else(String::new, |said| format!("; {said}"));
        TargetError::new(format!(
            "find a site: no executed instruction matches the selection{without}; `beamline profile` lists kernels, groups and lines"
        ))
    }

    /// For a selection of nothing, the words without any one of which something is selected, in a part of a sentence; none if
    /// each of them leaves nothing.
    #[must_use]
    pub fn words_in_the_way(&self, words: &SelectionWords) -> Option<String> {
        let all = || words.clone();
        let lists = [
            ("kernel", &words.kernel, SelectionWords { kernel: Vec::new(), ..all() }),
            ("lines", &words.lines, SelectionWords { lines: Vec::new(), ..all() }),
            ("group", &words.group, SelectionWords { group: Vec::new(), ..all() }),
            ("threads", &words.threads, SelectionWords { threads: Vec::new(), ..all() }),
            ("blocks", &words.blocks, SelectionWords { blocks: Vec::new(), ..all() }),
            ("iterations", &words.iterations, SelectionWords { iterations: Vec::new(), ..all() }),
        ];
        let target: Vec<String> = words.target.iter().cloned().collect();
        let without_target = ("target", &target, SelectionWords { target: None, ..all() });
        let in_the_way = |(name, said, others): (&str, &Vec<String>, SelectionWords)| {
            let matters = !said.is_empty() && self.members(&others).is_ok_and(|members| members > 0);
            matters.then(|| format!("{name} {}", said.join(", ")))
        };
        let found: Vec<String> = lists.into_iter().chain([without_target]).filter_map(in_the_way).collect();
        (!found.is_empty()).then(|| format!("there are some without {}", found.join(", or without ")))
    }
}
