//! Statistics of counted outcomes, without a word about where the counts come from.
//!
//! - [`proportion`]: an observed share and the intervals that bound the true one;
//! - [`size`]: how many trials a stated margin needs;
//! - [`sequential`]: looking at the data more than once without losing the stated confidence;
//! - [`strata`]: the share of a population that is sampled by strata;
//! - [`weighted`]: a share of trials that do not all weigh the same;
//! - [`two`]: two proportions compared, and the correction for many comparisons;
//! - [`mod@homogeneity`]: several samples by class, compared as a whole;
//! - [`repeated`]: a quantity measured several times over, its mean and its spread;
//! - [`mod@median`]: the middle of a sample, within order statistics;
//! - [`mod@poisson`]: counts of events that come by chance;
//! - [`rates`]: whether several such counts have one rate;
//! - [`mod@ranks`]: which of two samples is the smaller, whatever their distributions;
//! - [`mod@correlation`]: how alike two orders are;
//! - [`mod@regression`]: a linear model, how much it explains, and whether by chance;
//! - [`mod@logistic`]: the probabilities of classes by variables, fitted with weights and a penalty;
//! - [`bounded`]: sums and products of what is known within bounds;
//! - [`bound`]: how many trials tell on which side of a bound a proportion lies;
//! - [`mod@bootstrap`]: bounds of a mean, also of pairs that are not independent;
//! - [`mod@chi_square`]: does a sampler draw what it says;
//! - [`cumulative`]: things numbered through, each with a weight;
//! - [`knapsack`]: the cheapest items whose values add up to a demand;
//! - [`draws`]: random numbers that are a function of (seed, run, draw) and of nothing else.
//!
//! Every formula names its source beside it and is tested against published values and, where it promises a
//! coverage, by simulation. Quantiles come from `statrs`; nothing else does.

pub mod bootstrap;
pub mod bound;
pub mod bounded;
pub mod chi_square;
pub mod confidence;
pub mod correlation;
pub mod cumulative;
pub mod draws;
pub mod homogeneity;
pub mod knapsack;
pub mod logistic;
pub mod median;
pub mod poisson;
pub mod proportion;
pub mod ranks;
pub mod rates;
pub mod regression;
pub mod repeated;
pub mod sequential;
pub mod size;
pub mod strata;
pub mod two;
pub mod weighted;

pub use bootstrap::{bootstrap, bootstrap_of_pairs, bootstrap_of_ratio};
pub use bound::{trials_to_decide, trials_to_shrink};
pub use bounded::Bounded;
pub use chi_square::{ChiSquare, chi_square};
pub use confidence::{Confidence, Margin, OutOfRange};
pub use correlation::{RankCorrelation, spearman};
pub use cumulative::Cumulative;
pub use draws::Draws;
pub use homogeneity::{Homogeneity, homogeneity};
pub use knapsack::{Cover, Knapsack, KnapsackItem};
pub use logistic::{Logistic, LogisticExample};
pub use median::{Median, median};
pub use poisson::poisson;
pub use proportion::{Interval, IntervalKind, Proportion};
pub use ranks::{RankComparison, ranks};
pub use rates::{RateHomogeneity, rate_homogeneity};
pub use regression::{Regression, regression};
pub use repeated::Repeated;
pub use sequential::{Decision, Sequential};
pub use size::{half_width, sample_size};
pub use strata::{Stratified, StratumSample};
pub use two::{DifferenceInterval, ProportionComparison, Test, fisher, holm, newcombe, score_test};
pub use weighted::Weighted;
