//! Pictures as PNG files; of several frames, as animated ones, which programs that know no animation show the first of.

use png::{BitDepth, ColorType, Encoder, EncodingError};
use study::{Frame, Palette, Panel, Picture};

/// Pixels between panels, and around them.
const GAP: usize = 8;
/// What is between panels.
const PAPER: [u8; 3] = [200, 200, 200];
/// What is no number.
const NO_NUMBER: [u8; 3] = [255, 0, 255];
/// Small arrays are shown with larger elements, up to about this many pixels.
const SIDE: usize = 240;
/// Seconds that a frame is shown, as a fraction.
const DELAY: (u16, u16) = (1, 2);

/// A picture as the bytes of a PNG file.
///
/// # Errors
/// If it has no frames, or frames of several sizes.
pub fn png(picture: &Picture) -> Result<Vec<u8>, EncodingError> {
    let largest =
        picture.frames.iter().flat_map(|frame| &frame.panels).map(|panel| panel.width.max(height(panel))).max();
    let scale = (SIDE / largest.unwrap_or(1).max(1)).max(1);
    let frames: Vec<Drawn> = picture.frames.iter().map(|frame| Drawn::of(frame, scale)).collect();
    let (width, height) = frames.first().map_or((0, 0), |first| (first.width, first.height));
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    if frames.len() > 1 {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(DELAY.0, DELAY.1)?;
    }
    encoder.add_text_chunk("Title".to_owned(), picture.title.clone())?;
    let mut writer = encoder.write_header()?;
    frames.iter().try_for_each(|frame| writer.write_image_data(&frame.pixels))?;
    writer.finish()?;
    Ok(bytes)
}

fn height(panel: &Panel) -> usize {
    panel.values.len() / panel.width.max(1)
}

/// A frame as pixels.
struct Drawn {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

impl Drawn {
    fn of(frame: &Frame, scale: usize) -> Self {
        let width = frame.panels.iter().map(|panel| panel.width * scale + GAP).sum::<usize>() + GAP;
        let height = frame.panels.iter().map(height).max().unwrap_or(0) * scale + 2 * GAP;
        let mut drawn = Self { width, height, pixels: PAPER.repeat(width * height) };
        let mut left = GAP;
        for panel in &frame.panels {
            for (at, &value) in panel.values.iter().enumerate() {
                let (x, y) = (left + at % panel.width * scale, GAP + at / panel.width * scale);
                drawn.fill((x, y), scale, colour(panel.palette, value));
            }
            left += panel.width * scale + GAP;
        }
        drawn
    }

    fn fill(&mut self, (x, y): (usize, usize), side: usize, colour: [u8; 3]) {
        for row in y..y + side {
            let from = 3 * (row * self.width + x);
            self.pixels[from..from + 3 * side].copy_from_slice(&colour.repeat(side));
        }
    }
}

fn colour(palette: Palette, value: f64) -> [u8; 3] {
    if value.is_nan() {
        return NO_NUMBER;
    }
    // Saturates at both ends.
    let byte = |value: f64| (255.0 * value).round() as u8;
    match palette {
        Palette::Grey => [byte(value); 3],
        Palette::Heat => [byte(2.0 * value), byte(2.0 * value - 0.7), byte(3.0 * value - 2.0)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(width: usize, palette: Palette, values: &[f64]) -> Panel {
        Panel { width, palette, values: values.to_vec() }
    }

    #[test]
    fn a_picture_is_read_back_as_it_is_drawn() {
        let panels =
            vec![panel(2, Palette::Grey, &[0.0, 1.0, 0.5, f64::NAN]), panel(2, Palette::Heat, &[0.0, 1.0, 0.0, 0.0])];
        let frame = Frame { panels };
        let picture =
            Picture { name: "x".into(), title: "Golden, faulty: x".into(), frames: vec![frame.clone(), frame] };
        let bytes = png(&picture).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let info = reader.info();
        assert_eq!(info.animation_control.map(|control| control.num_frames), Some(2));
        assert_eq!(info.uncompressed_latin1_text[0].text, "Golden, faulty: x");
        let width = info.width as usize;
        assert_eq!((width, info.height), (3 * GAP + 4 * 120, 2 * GAP as u32 + 240));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        let at = |x: usize, y: usize| <[u8; 3]>::try_from(&pixels[3 * (y * width + x)..][..3]).unwrap();
        let places = [(0, 0), (GAP, GAP), (GAP + 239, GAP), (GAP + 119, GAP + 239), (GAP + 239, GAP + 239)];
        assert_eq!(places.map(|(x, y)| at(x, y)), [PAPER, [0; 3], [255; 3], [128; 3], NO_NUMBER]);
        assert_eq!((at(2 * GAP + 240, GAP), at(width - GAP - 1, GAP)), ([0; 3], [255; 3]));
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(png(&Picture { name: "x".into(), title: "x".into(), frames: Vec::new() }).is_err());
    }
}
