//! FLR: which feature maps to make twice.

use serde::Serialize;

use crate::filr::maps::{FeatureMap, all_macs};
use crate::filr::order::Order;
use crate::filr::table::{Left, Table};

/// What the first feature maps of an order cost and bring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// How many feature maps are made twice.
    pub maps: usize,
    /// Their share in all multiplications, 0 to 1.
    pub overhead: f64,
    /// Their share in the vulnerability by mismatch, 0 to 1.
    pub coverage: f64,
}

/// Feature maps by number, the most vulnerable of what is left first; of equal ones that with fewer multiplications, then
/// that with the smaller number.
#[must_use]
pub fn order(maps: &[FeatureMap], left: &Left, by: Order) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..maps.len()).collect();
    let mass = |map: usize| u128::from(left.sdcs[map]) * u128::from(maps[map].macs);
    let loss = |map: usize| left.loss[map] * maps[map].macs as f64;
    numbers.sort_by(|&a, &b| {
        let greater = match by {
            Order::Mismatch => mass(b).cmp(&mass(a)),
            Order::Loss => loss(b).total_cmp(&loss(a)),
            Order::Rate => left.sdcs[b].cmp(&left.sdcs[a]),
        };
        greater.then(maps[a].macs.cmp(&maps[b].macs)).then(a.cmp(&b))
    });
    numbers
}

/// Feature maps by number, those of the largest vulnerability first; ties as in [`order`].
#[must_use]
pub fn order_of(maps: &[FeatureMap], vulnerabilities: &[f64]) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..maps.len().min(vulnerabilities.len())).collect();
    numbers.sort_by(|&a, &b| {
        let greater = vulnerabilities[b].total_cmp(&vulnerabilities[a]);
        greater.then(maps[a].macs.cmp(&maps[b].macs)).then(a.cmp(&b))
    });
    numbers
}

/// Coverage against overhead, from no feature map to all; empty if no injection changed the class.
///
/// Coverage is always that of the mismatches, whatever the order is by.
#[must_use]
pub fn curve(table: &Table, by: Order) -> Vec<CurvePoint> {
    let (maps, left) = (table.maps(), table.all());
    points(maps, &left, &order(maps, &left, by))
}

/// The same for any order of all feature maps, and the mismatches of `left`.
#[must_use]
pub fn points(maps: &[FeatureMap], left: &Left, order: &[usize]) -> Vec<CurvePoint> {
    let (mass, macs) = (left.mass(maps), all_macs(maps));
    if mass == 0 || macs == 0 {
        return Vec::new();
    }
    let (mut covered, mut twice) = (0, 0);
    let mut points = vec![CurvePoint { maps: 0, overhead: 0.0, coverage: 0.0 }];
    for &map in order {
        covered += u128::from(left.sdcs[map]) * u128::from(maps[map].macs);
        twice += maps[map].macs;
        points.push(CurvePoint {
            maps: points.len(),
            overhead: twice as f64 / macs as f64,
            coverage: covered as f64 / mass as f64,
        });
    }
    points
}

/// The first feature maps of an order with something left, until what they leave uncovered is `reached`.
#[must_use]
pub fn fill(maps: &[FeatureMap], left: &Left, by: Order, reached: impl Fn(u128) -> bool) -> Vec<usize> {
    let mut uncovered = left.mass(maps);
    let mut chosen = Vec::new();
    for map in order(maps, left, by) {
        if reached(uncovered) {
            break;
        }
        if left.sdcs[map] > 0 {
            uncovered -= u128::from(left.sdcs[map]) * u128::from(maps[map].macs);
            chosen.push(map);
        }
    }
    chosen
}
