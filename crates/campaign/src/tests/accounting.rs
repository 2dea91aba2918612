//! Every planned run is accounted for.

use expect_test::expect;

use super::*;
use crate::summary::Account;

fn adds_up(account: &Account) -> bool {
    let outcomes = account.outcomes;
    account.runs == outcomes.masked + outcomes.sdc + outcomes.due + account.not_landed + account.failed
}

fn check_account(summary: &Summary) {
    let runs = summary.runs;
    let remaining = summary.remaining.unwrap_or(0);
    assert_eq!(runs.planned, runs.landed + runs.not_landed + runs.failed + remaining);
    let outcomes = [&summary.outcomes.masked, &summary.outcomes.sdc, &summary.outcomes.due];
    assert_eq!(runs.landed, outcomes.iter().map(|rate| rate.count).sum::<u64>());
    for (rate, kinds) in outcomes.into_iter().zip([&summary.masked, &summary.sdc, &summary.due]) {
        assert_eq!(rate.count, kinds.values().sum::<u64>());
    }
    let kernels: Vec<Account> = summary.by_kernel.iter().map(|part| part.account).collect();
    let groups: Vec<Account> = summary.by_group.iter().map(|part| part.account).collect();
    let lines: Vec<Account> = summary.by_line.iter().map(|part| part.account).collect();
    for accounts in [kernels, groups, lines] {
        assert!(accounts.iter().all(adds_up), "{accounts:?}");
        assert_eq!(accounts.iter().map(|account| account.runs).sum::<u64>(), runs.planned - remaining);
    }
}

#[test]
fn planned_is_landed_and_not_landed_and_failed() {
    for runs in [1, 2, 63, 64, 65, 500] {
        let dir = tempfile::tempdir().unwrap();
        let summary = run_all(dir.path(), config(runs), &Fake::default());
        assert_eq!((summary.runs.planned, summary.remaining), (runs, None));
        check_account(&summary);
    }
}

#[test]
fn an_unfinished_campaign_says_how_much_remains() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(1000), &Fake::default()).unwrap();
    let CampaignEnd::Interrupted(summary) = run_some(&mut store, &Fake::default(), 100) else { panic!("not stopped") };
    assert!(summary.remaining.unwrap() > 0);
    check_account(&summary);
}

#[test]
fn a_campaign_without_a_single_row_has_unknown_rates() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::create(dir.path(), config(10), &Fake::default()).unwrap();
    let CampaignEnd::Interrupted(summary) = run_some(&mut store, &Fake::default(), 0) else { panic!("not stopped") };
    check_account(&summary);
    let masked = summary.outcomes.masked;
    assert_eq!((masked.rate, masked.low, masked.high, summary.remaining), (None, 0.0, 1.0, Some(10)));
}

#[test]
fn rates_and_their_intervals_are_over_landed_runs() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), config(500), &Fake::default());
    let sdc = stats::Proportion::new(summary.outcomes.sdc.count, summary.runs.landed).unwrap();
    let wilson = sdc.wilson(stats::Confidence::PERCENT_95);
    assert!(summary.runs.landed < 500);
    assert_eq!(summary.outcomes.sdc.rate, sdc.rate());
    assert_eq!((summary.outcomes.sdc.low, summary.outcomes.sdc.high), (wilson.low, wilson.high));
}

#[test]
fn the_summary_file_is_the_summary() {
    let dir = tempfile::tempdir().unwrap();
    let summary = run_all(dir.path(), config(50), &Fake::default());
    let text = std::fs::read_to_string(dir.path().join("summary.json")).unwrap();
    assert_eq!(serde_json::from_str::<Summary>(&text).unwrap(), summary);
    assert_eq!(Results::open(dir.path()).unwrap().summary().unwrap(), summary);
}

#[test]
fn the_document_has_the_format_that_is_documented() {
    let dir = tempfile::tempdir().unwrap();
    let mut summary = run_all(dir.path(), config(40), &Fake::default());
    summary.speed.seconds = 2.0;
    summary.speed.runs_per_second = 20.0;
    // Enough of each part to show its form.
    summary.by_group.truncate(1);
    summary.by_line.truncate(2);
    expect![[r#"
        {
          "format": "beamline.summary/1",
          "capsule": {
            "name": "fake",
            "digest": "fa4e"
          },
          "config": {
            "capsule": "fake",
            "runs": 40,
            "confidence": 0.95,
            "interval": "wilson",
            "seed": 7,
            "model": "flip",
            "target": "dst",
            "scope": "thread",
            "engine": "auto"
          },
          "seed": 7,
          "golden": {
            "launches": 2,
            "threads": 64,
            "thread_instructions": 4096,
            "seconds": 0.25
          },
          "races": [
            {
              "kernel": "kernel_0",
              "between": "blocks",
              "memory": "global",
              "accesses": [
                {
                  "pc": 3,
                  "file": "fake.cu",
                  "line": 9
                },
                {
                  "pc": 7
                }
              ],
              "words": 96
            }
          ],
          "races_unsearched": "looked for in 1 of 2 launches",
          "runs": {
            "planned": 40,
            "landed": 33,
            "not_landed": 2,
            "failed": 5
          },
          "outcomes": {
            "masked": {
              "count": 22,
              "rate": 0.6666666666666666,
              "low": 0.4960789442780561,
              "high": 0.8024977232077931
            },
            "sdc": {
              "count": 8,
              "rate": 0.24242424242424243,
              "low": 0.12831713377175014,
              "high": 0.4102461982955736
            },
            "due": {
              "count": 3,
              "rate": 0.09090909090909091,
              "low": 0.03140394152458166,
              "high": 0.2357260564646973
            },
            "undecided": {
              "count": 0,
              "rate": 0.0,
              "low": 0.0,
              "high": 0.10426999754245204
            }
          },
          "masked": {
            "logical": 14,
            "never_read": 2,
            "overwritten": 6
          },
          "sdc": {
            "bad": 0,
            "detectable": 4,
            "good": 0,
            "unjudged": 4
          },
          "due": {
            "assert": 1,
            "barrier_deadlock": 0,
            "detected": 0,
            "hang": 2,
            "illegal_address": 0,
            "illegal_instruction": 0,
            "invalid_address_space": 0,
            "misaligned_address": 0,
            "out_of_fuel": 0,
            "out_of_range_address": 0,
            "stack_overflow": 0,
            "trap": 0
          },
          "host_visible": 0,
          "by_kernel": [
            {
              "name": "kernel_0",
              "runs": 25,
              "not_landed": 1,
              "failed": 3,
              "outcomes": {
                "masked": 15,
                "sdc": 4,
                "due": 2,
                "undecided": 0
              },
              "rates": {
                "masked": 0.7142857142857143,
                "sdc": 0.19047619047619047,
                "due": 0.09523809523809523,
                "undecided": 0.0
              },
              "intervals": {
                "masked": {
                  "low": 0.5004361928391441,
                  "high": 0.8618613704787788
                },
                "sdc": {
                  "low": 0.07667565052761788,
                  "high": 0.4000056469020492
                },
                "due": {
                  "low": 0.026518767438074548,
                  "high": 0.28914139073918255
                },
                "undecided": {
                  "low": 0.0,
                  "high": 0.15463901892484694
                }
              }
            },
            {
              "name": "kernel_1",
              "runs": 15,
              "not_landed": 1,
              "failed": 2,
              "outcomes": {
                "masked": 7,
                "sdc": 4,
                "due": 1,
                "undecided": 0
              },
              "rates": {
                "masked": 0.5833333333333334,
                "sdc": 0.3333333333333333,
                "due": 0.08333333333333333,
                "undecided": 0.0
              },
              "intervals": {
                "masked": {
                  "low": 0.31951131254954973,
                  "high": 0.8067396863412435
                },
                "sdc": {
                  "low": 0.13812009109121315,
                  "high": 0.6093779111272004
                },
                "due": {
                  "low": 0.014865094404917123,
                  "high": 0.3538799111411169
                },
                "undecided": {
                  "low": 0.0,
                  "high": 0.24249400665524082
                }
              }
            }
          ],
          "by_group": [
            {
              "name": "fp32 fma",
              "runs": 15,
              "not_landed": 1,
              "failed": 1,
              "outcomes": {
                "masked": 10,
                "sdc": 1,
                "due": 2,
                "undecided": 0
              },
              "rates": {
                "masked": 0.7692307692307693,
                "sdc": 0.07692307692307693,
                "due": 0.15384615384615385,
                "undecided": 0.0
              },
              "intervals": {
                "masked": {
                  "low": 0.49743624053272506,
                  "high": 0.9182047128150144
                },
                "sdc": {
                  "low": 0.013710421242556586,
                  "high": 0.3331395092109959
                },
                "due": {
                  "low": 0.043258178358081184,
                  "high": 0.4223463101948254
                },
                "undecided": {
                  "low": 0.0,
                  "high": 0.22809537235419836
                }
              }
            }
          ],
          "by_line": [
            {
              "file": null,
              "line": null,
              "runs": 13,
              "not_landed": 1,
              "failed": 1,
              "outcomes": {
                "masked": 6,
                "sdc": 4,
                "due": 1,
                "undecided": 0
              },
              "rates": {
                "masked": 0.5454545454545454,
                "sdc": 0.36363636363636365,
                "due": 0.09090909090909091,
                "undecided": 0.0
              },
              "intervals": {
                "masked": {
                  "low": 0.2800915374093221,
                  "high": 0.7872872837754024
                },
                "sdc": {
                  "low": 0.15166471095367579,
                  "high": 0.6461988254921511
                },
                "due": {
                  "low": 0.01623217288588491,
                  "high": 0.3773584364515956
                },
                "undecided": {
                  "low": 0.0,
                  "high": 0.25883296696803165
                }
              }
            },
            {
              "file": "fake.cu",
              "line": 4,
              "runs": 4,
              "not_landed": 0,
              "failed": 0,
              "outcomes": {
                "masked": 3,
                "sdc": 0,
                "due": 1,
                "undecided": 0
              },
              "rates": {
                "masked": 0.75,
                "sdc": 0.0,
                "due": 0.25,
                "undecided": 0.0
              },
              "intervals": {
                "masked": {
                  "low": 0.300641842582402,
                  "high": 0.9544127391902995
                },
                "sdc": {
                  "low": 0.0,
                  "high": 0.48989083645459724
                },
                "due": {
                  "low": 0.0455872608097006,
                  "high": 0.699358157417598
                },
                "undecided": {
                  "low": 0.0,
                  "high": 0.48989083645459724
                }
              }
            }
          ],
          "speed": {
            "seconds": 2.0,
            "runs_per_second": 20.0,
            "jobs": 2,
            "tiers": {
              "delta": 11,
              "full": 14,
              "lanes": 10
            }
          }
        }
    "#]]
    .assert_eq(&summary.to_json().unwrap());
}
