//! Where shares and counts are on the paper: the plane that every chart is drawn on.

/// The plane of a chart, in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

impl Plane {
    /// How far right a part of the horizontal axis ends.
    pub(crate) fn x(&self, part: f64) -> f64 {
        self.left + part * (self.right - self.left)
    }

    /// The height of a share, if the axis ends at `max`.
    pub(crate) fn y(&self, share: f64, max: f64) -> f64 {
        self.bottom - (share / max).clamp(0.0, 1.0) * (self.bottom - self.top)
    }
}

/// Where a number stands on an axis of powers of ten, counted in powers. Zero has a place, too.
pub(crate) fn logarithmic(n: f64) -> f64 {
    (n + 1.0).log10()
}

/// The first of `ends`, ascending, that is not below the largest share; the whole where none is.
pub(crate) fn end_of_axis(highest: f64, ends: &[f64]) -> f64 {
    ends.iter().copied().find(|end| *end >= highest).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_up_and_numbers_right() {
        let plane = Plane { left: 10.0, right: 110.0, top: 5.0, bottom: 25.0 };
        assert_eq!([0.0, 0.5, 1.0].map(|part| plane.x(part)), [10.0, 60.0, 110.0]);
        assert_eq!([0.0, 0.2, 0.4, 0.9].map(|share| plane.y(share, 0.4)), [25.0, 15.0, 5.0, 5.0]);
        assert_eq!([0.0, 9.0, 99.0].map(logarithmic), [0.0, 1.0, 2.0]);
        assert_eq!([0.0, 0.1, 0.3].map(|highest| end_of_axis(highest, &[0.1, 0.2])), [0.1, 0.1, 1.0]);
    }
}
