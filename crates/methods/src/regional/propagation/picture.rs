//! Variables as pictures: the golden run, the faulty run, and the difference side by side, a frame for each launch or time.

use fault::{Fault, base_name};
use inject::{Array, CapsuleTarget};
use study::{Frame, Palette, Panel, Picture};

use super::arrays::{DeclaredVariable, arrays};
use super::line::{LineTimeline, ValuesFrame};
use super::timeline::FaultTimeline;
use crate::kit::StudyError;

/// Rows or columns of a panel, at most: more elements share a place, where the one that differs most is shown.
const MOST: usize = 512;

/// Frames of a picture, at most.
const FRAMES: u64 = 200;

/// Elements in all frames of a picture, about, at most: of large arrays there are fewer frames, and the title says how many.
const ELEMENTS: u64 = 1 << 26;

/// How much of the range of brightness the smallest error has: it is told from none at once.
const FAINTEST: f64 = 0.25;

/// The sides of an array on paper: all dimensions but the last are its rows, and what has one dimension is folded.
fn sides(shape: &[u64]) -> (usize, usize) {
    let elements: u64 = shape.iter().product();
    match shape {
        [] | [_] => {
            let width = (elements as f64).sqrt().ceil().max(1.0) as u64;
            (elements.div_ceil(width) as usize, width as usize)
        }
        [.., width] => ((elements / width) as usize, *width as usize),
    }
}

/// The largest of the values that share a place, by places, and how many are in a row.
fn reduced(values: &[f64], (rows, columns): (usize, usize)) -> (usize, Vec<f64>) {
    let step = rows.max(columns).div_ceil(MOST).max(1);
    let (height, width) = (rows.div_ceil(step), columns.div_ceil(step));
    let mut places = vec![f64::NEG_INFINITY; height * width];
    for (at, &value) in values.iter().enumerate() {
        let place = &mut places[at / columns / step * width + at % columns / step];
        // What is no number stays to be seen.
        *place = if value.is_nan() || place.is_nan() { f64::NAN } else { place.max(value) };
    }
    // Behind the last element of a folded array there is nothing.
    (width, places.into_iter().map(|value| if value == f64::NEG_INFINITY { 0.0 } else { value }).collect())
}

/// Pictures of the variables that a fault corrupts, at most `most` of them, each after the launch at whose end most of its elements
/// differ. `declared` is the text of the declarations; without some, all buffers are looked at.
///
/// # Errors
/// If the declarations cannot be read or fit nothing, or the fault names no place.
pub fn worst_frames(
    capsule: &CapsuleTarget,
    declared: Option<&str>,
    fault: &Fault,
    most: usize,
) -> Result<Vec<Picture>, StudyError> {
    let declared = DeclaredVariable::read(declared.unwrap_or_default()).map_err(StudyError::Words)?;
    let followed = arrays(capsule, &declared, None).map_err(StudyError::Words)?;
    let course = FaultTimeline::of(capsule, &followed.arrays, fault)?;
    let launches = capsule.golden_run().launches();
    let kernels: Vec<&str> = launches.iter().map(|launch| base_name(&launch.program.name)).collect();
    let still = |it: Picture| {
        let frames = it.frames.into_iter().skip(it.still).take(1).collect();
        Picture { frames, still: 0, ..it }
    };
    Ok(pictures(&course, &kernels).into_iter().take(most).map(still).collect())
}

/// A picture of each variable that the fault corrupts: a frame for every launch from the one with the fault on.
pub(super) fn pictures(course: &FaultTimeline<'_>, kernels: &[&str]) -> Vec<Picture> {
    let launches = kernels.len() as u32;
    let corrupted = |&array: &usize| course.steps.iter().any(|step| step.change.array == array);
    let picture = |array: usize| {
        let it = &course.arrays()[array];
        let seen: Vec<u32> = (course.fault.launch..launches).filter(|&launch| it.is_seen_after(launch)).collect();
        drawn(it, &course.fault, &seen, |launch| {
            let (golden, found) = course.values(launch, array);
            (format!("after launch {launch}, {}", kernels[launch as usize]), golden, found)
        })
    };
    (0..course.arrays().len()).filter(corrupted).map(picture).collect()
}

/// A picture of each variable that differs when the thread with the fault comes to a line: a frame for each time.
pub(super) fn pictures_at(line: &LineTimeline<'_>, arrays: &[Array], fault: &Fault) -> Vec<Picture> {
    let times: Vec<usize> = (0..line.times()).collect();
    arrays.iter().filter_map(|array| Some(drawn(array, fault, &times, line.frames(array)?))).collect()
}

/// A picture of a variable with a frame for each of these moments, golden, faulty, difference. Values are grey between the least
/// and the largest finite one of the golden run over all frames. Differences are black where there are none and the brighter
/// the larger, by their logarithm, up to white for the largest of all frames and for what is no finite number.
fn drawn<M: Copy>(it: &Array, fault: &Fault, moments: &[M], frame_of: impl Fn(M) -> ValuesFrame) -> Picture {
    let sides = sides(&it.shape);
    let most = (ELEMENTS / it.elements().max(1)).clamp(1, FRAMES) as usize;
    // The last one is there, and as many before it as may be, evenly.
    let step = moments.len().div_ceil(most).max(1);
    let mut frames: Vec<ValuesFrame> = moments.iter().rev().step_by(step).map(|&it| frame_of(it)).collect();
    frames.reverse();
    let finite = |values: &[f64]| {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        values.iter().filter(|value| value.is_finite()).fold(ends, |(low, high), &it| (low.min(it), high.max(it)))
    };
    let golden: Vec<f64> = frames.iter().flat_map(|(_, golden, _)| golden.iter().copied()).collect();
    let (low, high) = finite(&golden);
    let grey = |value: f64| {
        if value.is_nan() { value } else { ((value - low) / (high - low).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0) }
    };
    let error = |(golden, found): (&f64, &f64)| {
        let same = golden.to_bits() == found.to_bits();
        let error = (found - golden).abs();
        if same {
            0.0
        } else if error.is_finite() {
            error.max(f64::MIN_POSITIVE)
        } else {
            f64::INFINITY
        }
    };
    let errors: Vec<Vec<f64>> =
        frames.iter().map(|(_, golden, found)| golden.iter().zip(found).map(error).collect()).collect();
    let sizes: Vec<f64> =
        errors.iter().flatten().filter(|&&it| it > 0.0 && it.is_finite()).map(|it| it.log10()).collect();
    let (least, most) = finite(&sizes);
    let bright = |error: f64| match error {
        0.0 => 0.0,
        error if !error.is_finite() || most <= least => 1.0,
        error => FAINTEST + (1.0 - FAINTEST) * (error.log10() - least) / (most - least),
    };
    let number = |value: f64| format!("{value:.2e}");
    let of_values = if low <= high { [number(low), number(high)] } else { Default::default() };
    let of_errors = if sizes.is_empty() { Default::default() } else { ["0".to_owned(), number(10f64.powf(most))] };
    let error_caption =
        if sizes.is_empty() { "error".to_owned() } else { format!("error, log from {}", number(10f64.powf(least))) };
    let panel = |caption: &str, ends: &[String; 2], palette: Palette, shades: Vec<f64>| {
        let (width, values) = reduced(&shades, sides);
        Panel { caption: caption.to_owned(), ends: ends.clone(), width, palette, values, below: Vec::new() }
    };
    let frame = |when: &str, [golden, found, errors]: [&[f64]; 3]| {
        let shades = |values: &[f64]| values.iter().map(|&it| grey(it)).collect::<Vec<_>>();
        let differing = errors.iter().filter(|&&error| error > 0.0).count();
        Frame {
            caption: format!("{when}: {differing} of {} differ", it.elements()),
            panels: vec![
                panel("golden", &of_values, Palette::Grey, shades(golden)),
                panel("faulty", &of_values, Palette::Grey, shades(found)),
                panel(&error_caption, &of_errors, Palette::Heat, errors.iter().map(|&it| bright(it)).collect()),
            ],
        }
    };
    // The first of those in which most elements differ, and of these by most.
    let badness = |errors: &Vec<f64>| {
        let largest = errors.iter().fold(0.0, |most: f64, &error| most.max(error));
        (errors.iter().filter(|&&error| error > 0.0).count(), largest)
    };
    let frames_of = errors.iter().map(badness).enumerate();
    let worst = frames_of.reduce(|worst, it| if it.1 > worst.1 { it } else { worst }).map_or(0, |(at, _)| at);
    Picture {
        still: worst,
        name: it.name.clone(),
        title: if frames.len() < moments.len() {
            format!("{}, {fault}, {} of {} moments", it.name, frames.len(), moments.len())
        } else {
            format!("{}, {fault}", it.name)
        },
        frames: frames
            .iter()
            .zip(&errors)
            .map(|((when, golden, found), errors)| frame(when, [golden, found, errors]))
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_any_shape_have_two_sides() {
        assert_eq!(sides(&[7]), (3, 3));
        assert_eq!(sides(&[4, 6]), (4, 6));
        assert_eq!(sides(&[2, 3, 5]), (6, 5));
    }

    #[test]
    fn elements_that_share_a_place_show_the_largest() {
        let mut values = vec![0.0; 1024 * 2];
        values[3] = 0.5;
        values[1024 + 2] = 0.7;
        let (width, values) = reduced(&values, (2, 1024));
        assert_eq!((width, values.len()), (512, 512));
        assert_eq!((values[0], values[1]), (0.0, 0.7));
        assert!(reduced(&[0.0, f64::NAN], (1, 2)).1[1].is_nan());
    }
}
