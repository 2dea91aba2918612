//! Campaigns that end after so many seconds.

use std::time::Duration;

use super::*;

fn limited(runs: u64, seconds: f64) -> Config {
    Choices { seconds: Some(seconds), ..choices(runs) }.settle().unwrap()
}

#[test]
fn a_campaign_out_of_time_keeps_what_it_has_and_goes_on_to_the_same_rows() {
    let slow = Fake { delay: Duration::from_millis(2), ..Fake::default() };
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), limited(300, 0.05), &slow).unwrap();
    let ended = run(&slow, &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap();
    let CampaignEnd::OutOfTime(summary) = ended else { panic!("{ended:?}") };
    let remaining = summary.remaining.unwrap();
    assert!(remaining > 0 && remaining < 300, "{remaining} of 300 remain");
    assert_eq!(rows(dir.path()).len() as u64, 300 - remaining);
    drop(store);
    loop {
        let mut store = Store::resume(dir.path(), &slow).unwrap();
        match run(&slow, &mut store, &AtomicBool::new(false), &mut |_| {}).unwrap() {
            CampaignEnd::Finished(_) => break,
            CampaignEnd::OutOfTime(_) => {}
            CampaignEnd::Interrupted(_) => panic!("nobody interrupted"),
        }
    }
    assert_eq!(rows(dir.path()), undisturbed(config(300), &slow));
}

#[test]
fn a_campaign_that_has_time_enough_finishes() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), limited(50, 1e6), &Fake::default());
    assert_eq!(summary.remaining, None);
}
