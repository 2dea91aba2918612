//! Pictures as PNG files; of several frames, as animated ones, of which programs that know no animation show one.

use super::letters;
use png::{BitDepth, ColorType, Encoder, EncodingError};
use study::{Frame, Palette, Panel, Picture};

/// Pixels between panels, and around them.
const GAP: usize = 8;
/// What is between panels.
const PAPER: [u8; 3] = [200, 200, 200];
/// The colour of letters.
const INK: [u8; 3] = [0; 3];
/// How high a scale of colours is.
const SCALE: usize = 8;
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
    let layout = Layout::of(picture, scale);
    let frames: Vec<Vec<u8>> = picture.frames.iter().map(|frame| layout.draw(&picture.title, frame)).collect();
    let (width, height) = if frames.is_empty() { (0, 0) } else { (layout.width, layout.height) };
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, width as u32, height as u32);
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    if frames.len() > 1 {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(DELAY.0, DELAY.1)?;
        encoder.set_sep_def_img(true)?;
    }
    encoder.add_text_chunk("Title".to_owned(), picture.title.clone())?;
    let mut writer = encoder.write_header()?;
    let still = frames.get(picture.still).filter(|_| frames.len() > 1);
    still.into_iter().chain(&frames).try_for_each(|frame| writer.write_image_data(frame))?;
    writer.finish()?;
    Ok(bytes)
}

fn height(panel: &Panel) -> usize {
    panel.values.len() / panel.width.max(1)
}

/// Where things are in every frame: the title, the caption of the frame, and side by side panels with their captions above and
/// their scales of colours below.
struct Layout {
    /// Pixels of a value.
    scale: usize,
    width: usize,
    height: usize,
    /// How wide each panel is with its texts.
    columns: Vec<usize>,
    /// How high the panels are.
    tall: usize,
}

impl Layout {
    fn of(picture: &Picture, scale: usize) -> Self {
        let mut columns: Vec<usize> = Vec::new();
        let (mut text, mut tall) = (letters::width(&picture.title), 0);
        for frame in &picture.frames {
            text = text.max(letters::width(&frame.caption));
            columns.resize(columns.len().max(frame.panels.len()), 0);
            for (column, panel) in columns.iter_mut().zip(&frame.panels) {
                let ends = letters::width(&panel.ends.concat()) + letters::WIDTH;
                *column = (panel.width * scale).max(letters::width(&panel.caption)).max(ends).max(*column);
                tall = tall.max(height(panel) * scale);
            }
        }
        let width = columns.iter().map(|column| column + GAP).sum::<usize>().max(text + GAP) + GAP;
        let height = 4 * GAP + 4 * letters::HEIGHT + tall + SCALE;
        Self { scale, width, height, columns, tall }
    }

    fn draw(&self, title: &str, frame: &Frame) -> Vec<u8> {
        let mut canvas = Canvas { width: self.width, pixels: PAPER.repeat(self.width * self.height) };
        canvas.write((GAP, GAP), title);
        canvas.write((GAP, GAP + letters::HEIGHT), &frame.caption);
        let captions = 2 * GAP + 2 * letters::HEIGHT;
        let (top, mut left) = (captions + letters::HEIGHT, GAP);
        for (panel, column) in frame.panels.iter().zip(&self.columns) {
            canvas.write((left, captions), &panel.caption);
            for (at, &value) in panel.values.iter().enumerate() {
                let (x, y) = (left + at % panel.width * self.scale, top + at / panel.width * self.scale);
                let over = colour(panel.palette, value);
                let shown = panel.below.get(at).map_or(over, |&below| lit(below, over));
                canvas.fill((x, y), (self.scale, self.scale), shown);
            }
            let below = top + self.tall + GAP;
            if !panel.ends.concat().is_empty() {
                for x in 0..*column {
                    let value = x as f64 / (*column - 1).max(1) as f64;
                    canvas.fill((left + x, below), (1, SCALE), colour(panel.palette, value));
                }
                let [low, high] = &panel.ends;
                canvas.write((left, below + SCALE + 2), low);
                canvas.write((left + column - letters::width(high), below + SCALE + 2), high);
            }
            left += column + GAP;
        }
        canvas.pixels
    }
}

/// Pixels, row by row.
struct Canvas {
    width: usize,
    pixels: Vec<u8>,
}

impl Canvas {
    fn fill(&mut self, (x, y): (usize, usize), (width, height): (usize, usize), colour: [u8; 3]) {
        for row in y..y + height {
            let from = 3 * (row * self.width + x);
            self.pixels[from..from + 3 * width].copy_from_slice(&colour.repeat(width));
        }
    }

    fn write(&mut self, (left, top): (usize, usize), text: &str) {
        letters::draw(text, |x, y| self.fill((left + x, top + y), (1, 1), INK));
    }
}

/// A colour with a picture below it, which at its brightest brings it half the way to white.
fn lit(below: f64, over: [u8; 3]) -> [u8; 3] {
    over.map(|byte| (f64::from(byte) + f64::from(255 - byte) * below / 2.0).round() as u8)
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

    fn panel(palette: Palette, values: &[f64]) -> Panel {
        let ends = ["0".to_owned(), "1".to_owned()];
        Panel { caption: "panel".into(), ends, width: 2, palette, values: values.to_vec(), below: Vec::new() }
    }

    #[test]
    fn a_picture_is_read_back_as_it_is_drawn() {
        let nan = f64::NAN;
        let panels = vec![panel(Palette::Grey, &[0.0, 1.0, 0.5, nan]), panel(Palette::Heat, &[0.0, 1.0, 0.0, 0.0])];
        let last = Frame { caption: "launch 1".into(), panels };
        let first = Frame { panels: vec![panel(Palette::Grey, &[nan; 4]); 2], ..last.clone() };
        let picture =
            Picture { name: "x".into(), title: "Golden, faulty: x".into(), frames: vec![first, last], still: 1 };
        let bytes = png(&picture).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let info = reader.info();
        assert_eq!(info.animation_control.map(|control| control.num_frames), Some(2));
        assert_eq!(info.uncompressed_latin1_text[0].text, "Golden, faulty: x");
        let width = info.width as usize;
        let top = 2 * GAP + 3 * letters::HEIGHT;
        assert_eq!((width, info.height as usize), (3 * GAP + 4 * 120, top + 240 + 2 * GAP + SCALE + letters::HEIGHT));
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        // What a program shows that knows no animation is the last frame.
        reader.next_frame(&mut pixels).unwrap();
        let at = |x: usize, y: usize| <[u8; 3]>::try_from(&pixels[3 * (y * width + x)..][..3]).unwrap();
        let places = [(0, 0), (GAP, top), (GAP + 239, top), (GAP + 119, top + 239), (GAP + 239, top + 239)];
        assert_eq!(places.map(|(x, y)| at(x, y)), [PAPER, [0; 3], [255; 3], [128; 3], NO_NUMBER]);
        assert_eq!((at(2 * GAP + 240, top), at(width - GAP - 1, top)), ([0; 3], [255; 3]));
        // The title, and the scale below from black to white.
        assert!((GAP..GAP + 7).any(|y| at(GAP + 1, y) == INK));
        let below = top + 240 + GAP;
        assert_eq!((at(GAP, below), at(GAP + 239, below)), ([0; 3], [255; 3]));
    }

    #[test]
    fn a_picture_shows_through_the_values_above_it() {
        let below = Panel { below: vec![1.0, 0.0], ..panel(Palette::Heat, &[0.0, 1.0]) };
        let frame = Frame { caption: String::new(), panels: vec![below] };
        let layout =
            Layout::of(&Picture { name: "x".into(), title: "x".into(), frames: vec![frame.clone()], still: 0 }, 1);
        let pixels = layout.draw("x", &frame);
        let first = 3 * ((2 * GAP + 3 * letters::HEIGHT) * layout.width + GAP);
        assert_eq!(pixels[first..first + 6], [128, 128, 128, 255, 255, 255]);
    }

    #[test]
    fn texts_make_room_for_themselves() {
        let narrow = Panel { caption: "a caption that is wide".into(), ..panel(Palette::Grey, &[0.0; 2000]) };
        let frame = Frame { caption: String::new(), panels: vec![narrow.clone(), narrow] };
        let layout = Layout::of(&Picture { name: "x".into(), title: "x".repeat(80), frames: vec![frame], still: 0 }, 1);
        assert_eq!((layout.columns, layout.width), (vec![22 * letters::WIDTH; 2], 80 * letters::WIDTH + 2 * GAP));
    }

    #[test]
    fn nothing_is_no_picture() {
        assert!(png(&Picture { name: "x".into(), title: "x".into(), frames: Vec::new(), still: 0 }).is_err());
    }
}
