//! Whether an operator fits what it reads and makes.

use crate::hit::INPUTS;
use crate::operator::{Conv, Operator, Shape, Tensor, Window};

/// Checks an operator against what it reads and makes.
pub(crate) fn check(operator: &Operator, inputs: &[&Tensor], output: &Tensor) -> Result<(), String> {
    let valid = |tensor: &Tensor| {
        let scale = tensor.quantisation.scale;
        tensor.shape.elements() > 0 && tensor.shape.elements() < 1 << 31 && scale.is_finite() && scale > 0.0
    };
    if let Some(tensor) = inputs.iter().copied().chain([output]).find(|tensor| !valid(tensor)) {
        return Err(format!("a tensor has elements, and a finite scale above 0, found {tensor:?}"));
    }
    match (operator, inputs) {
        (Operator::Conv(conv) | Operator::Dense(conv), [input]) => check_conv(conv, input, output.shape),
        (Operator::Add(_), [a, b]) if a.shape == output.shape && b.shape == output.shape => Ok(()),
        (Operator::Function(_), [input]) if input.shape == output.shape => Ok(()),
        (Operator::Multiply(_), [a, b]) if multiplies([a.shape, b.shape], output.shape) => Ok(()),
        (Operator::MaxPool(window), [input]) if input.shape.channels == output.shape.channels => {
            check_moved(inputs, output)?;
            check_window(*window, input.shape, output.shape)
        }
        (Operator::AveragePool(pool), [input]) if input.shape.channels == output.shape.channels => {
            check_window(pool.window, input.shape, output.shape)
        }
        (Operator::Concat, [_, ..]) if inputs.len() <= INPUTS.len() => {
            let channels: usize = inputs.iter().map(|input| input.shape.channels).sum();
            let size = |shape: Shape| [shape.height, shape.width];
            let fits = inputs.iter().all(|input| size(input.shape) == size(output.shape));
            let what = || format!("{channels} channels of its inputs do not fit an output of {:?}", output.shape);
            if fits && channels == output.shape.channels { Ok(()) } else { Err(what()) }
        }
        (Operator::Mean, [input]) if output.shape == input.shape.of_channels() => Ok(()),
        (Operator::GlobalAverage { multiplier }, [input]) => {
            let expected = input.shape.of_channels();
            if output.shape != expected || !multiplier.is_finite() {
                return Err(format!("an average is {expected:?} of a finite multiplier, found {:?}", output.shape));
            }
            if input.shape.positions() > 1 << 22 {
                return Err("sums of this number of positions may overflow".to_owned());
            }
            Ok(())
        }
        _ => {
            let size = |shape: Shape| format!("{} x {} x {}", shape.height, shape.width, shape.channels);
            let inputs: Vec<String> = inputs.iter().map(|input| size(input.shape)).collect();
            Err(format!(
                "it reads {} (rows x columns x channels) and makes {}, which it does not do; nothing is broadcast, but a factor \
                 of one row and one column with a number for each channel",
                inputs.join(" and "),
                size(output.shape)
            ))
        }
    }
}

/// Whether factors of these sizes make a product of this one: both have it, or one has a number for each of its channels.
fn multiplies(factors: [Shape; 2], product: Shape) -> bool {
    let each = product.of_channels();
    factors.contains(&product) && factors.iter().all(|&factor| factor == product || factor == each)
}

fn check_conv(conv: &Conv, input: &Tensor, output: Shape) -> Result<(), String> {
    let (kernel, groups) = (conv.kernel, conv.groups);
    if groups == 0 || !input.shape.channels.is_multiple_of(groups) || !output.channels.is_multiple_of(groups) {
        return Err(format!("{groups} groups do not divide {} and {} channels", input.shape.channels, output.channels));
    }
    let per_group = output.channels / groups;
    let sizes = [kernel[0], kernel[1], input.shape.channels, per_group];
    let weights = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    let weights = weights.ok_or_else(|| format!("a window of {kernel:?} is too large"))?;
    let found = [conv.weights.len(), conv.bias.len(), conv.multipliers.len(), conv.scales.len()];
    if found != [weights, output.channels, output.channels, output.channels] {
        return Err(format!("expected {weights} weights, and {} biases and scales, found {found:?}", output.channels));
    }
    if !conv.multipliers.iter().chain(&conv.scales).all(|scale| scale.is_finite()) {
        return Err("a scale is not finite".to_owned());
    }
    check_window(conv.window(), input.shape, output)?;
    // The least and the most that the sum of each channel can be, over all bytes of the input, taken from the zero point.
    let zero = i64::from(input.quantisation.zero);
    let mut sums: Vec<[i64; 2]> = conv.bias.iter().map(|&bias| [i64::from(bias); 2]).collect();
    let channels_per_group = input.shape.channels / groups;
    for (number, weights) in conv.weights.chunks(per_group).enumerate() {
        let first = (number % input.shape.channels) / channels_per_group * per_group;
        for ([least, most], &weight) in sums[first..].iter_mut().zip(weights) {
            let products = [-zero, 255 - zero].map(|value| i64::from(weight) * value);
            *least += products[0].min(products[1]);
            *most += products[0].max(products[1]);
        }
    }
    let fits = |sum: i64| i32::try_from(sum).is_ok();
    match sums.iter().position(|&[least, most]| !fits(least) || !fits(most)) {
        Some(channel) => Err(format!("the accumulators of channel {channel} may overflow 32 bits")),
        None => Ok(()),
    }
}

pub(crate) fn check_window(window: Window, input: Shape, output: Shape) -> Result<(), String> {
    let Window { kernel, stride, pad, dilation } = window;
    let is_empty = [kernel, stride, dilation].iter().any(|sizes| sizes.contains(&0));
    if is_empty || (0..2).any(|axis| pad[axis] >= window.extent(axis) || window.extent(axis) >= 1 << 31) {
        return Err("strides, dilations and windows are at least 1, and padding is smaller than the window".to_owned());
    }
    // The window of the last row may begin within the input, and no later.
    let rows_fit = |axis: usize, size: usize, windows: usize| (windows - 1) * stride[axis] < size + pad[axis];
    if !rows_fit(0, input.height, output.height) || !rows_fit(1, input.width, output.width) {
        return Err(format!("windows lie outside of the input, {input:?} for {output:?}"));
    }
    Ok(())
}

/// Checks that bytes mean the same before and after.
fn check_moved(inputs: &[&Tensor], output: &Tensor) -> Result<(), String> {
    match inputs.iter().find(|input| input.quantisation != output.quantisation) {
        Some(input) => Err(format!(
            "its bytes are moved, so that scales and zero points are equal; found {:?} and {:?}",
            input.quantisation, output.quantisation
        )),
        None => Ok(()),
    }
}
