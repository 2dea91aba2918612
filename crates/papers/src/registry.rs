//! Every page there is.

use crate::approxilyzer;
use crate::druto;
use crate::filr;
use crate::gpu_qin;
use crate::minotaur;
use crate::page::MethodPage;
use crate::pytorchfi;
use crate::regional;
use crate::sinrg;
use crate::two_level;

/// The pages.
#[rustfmt::skip] // One line each.
pub static PAGES: &[&MethodPage] = &[
    &gpu_qin::PAGE,
    &two_level::PAGE,
    &regional::PAGE,
    &approxilyzer::PAGE,
    &minotaur::PAGE,
    &druto::PAGE,
    &filr::PAGE,
    &pytorchfi::PAGE,
    &sinrg::PAGE,
];

/// The page of the method with this word.
///
/// # Errors
/// If there is none; it says which there are.
pub fn find(name: &str) -> Result<&'static MethodPage, String> {
    let known = || PAGES.iter().map(|page| page.method).collect::<Vec<_>>();
    let found = PAGES.iter().find(|page| page.method == name).copied();
    found.ok_or_else(|| format!("make a page about `{name}`: there are pages about {}", known().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_about_a_method_and_none_about_two() {
        for page in PAGES {
            // These are no methods of choosing sites: `beamline nn` and `beamline harden` do them.
            let is_method = methods::registry::find(page.method).is_ok_and(|method| method.name() == page.method);
            let others = [filr::PAGE.method, pytorchfi::PAGE.method, sinrg::PAGE.method];
            assert!(is_method || others.contains(&page.method), "{}", page.method);
            assert!(std::ptr::eq(find(page.method).unwrap(), *page));
        }
    }

    #[test]
    fn a_page_that_there_is_not_is_answered_with_those_that_there_are() {
        let error = find("weather").err().unwrap();
        assert!(error.starts_with("make a page about `weather`: there are pages about "), "{error}");
        assert!(PAGES.iter().all(|page| error.contains(page.method)), "{error}");
    }
}
