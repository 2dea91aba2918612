//! Which words of a selection leave nothing of it.

use campaign::{SelectionWords, TargetError};
use fault::{Selection, base_name};
use std::collections::BTreeSet;

use crate::golden::GoldenLaunch;
use crate::target::CapsuleTarget;

impl CapsuleTarget {
    pub(crate) fn nothing_selected(&self, words: &SelectionWords) -> TargetError {
        let without = self.words_in_the_way(words).map_or_else(String::new, |said| format!("; {said}"));
        TargetError::new(format!(
            "find a site: no executed instruction matches the selection{without}; `beamline profile` lists kernels, groups and lines"
        ))
    }

    /// Whether each of these kernels, or of these launches of kernels, is there.
    ///
    /// # Errors
    /// If one is not; the text names the kernels, or says how many launches there are.
    pub fn check_kernels(&self, kernels: &[String]) -> Result<(), TargetError> {
        let launches = self.golden_run().launches();
        for word in kernels {
            let held = |word: &str| {
                let selection = Selection::default().in_kernels(&[word.to_owned()]);
                let selection = selection.map_err(|error| TargetError::from_error(&error))?;
                let is_held = |it: &&GoldenLaunch| selection.holds_launch(&it.program.name, it.number);
                Ok::<_, TargetError>(launches.iter().filter(is_held).count())
            };
            if held(word)? > 0 {
                continue;
            }
            let name = word.split('#').next().unwrap_or_default();
            let why = match held(name)? {
                0 => {
                    let names: BTreeSet<&str> = launches.iter().map(|it| base_name(&it.program.name)).collect();
                    let names: Vec<&str> = names.into_iter().collect();
                    format!("there are {}", names.join(", "))
                }
                1 => format!("`{name}` is launched once, as `{name}#0`"),
                count => format!("`{name}` is launched {count} times, and they are counted from 0"),
            };
            return Err(TargetError::new(format!("find the kernel `{word}`: {why}")));
        }
        Ok(())
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
