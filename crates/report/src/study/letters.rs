//! Letters of pictures, five pixels wide and eight high.

/// Pixels from a letter to the next.
pub(super) const WIDTH: usize = 6;
/// Pixels from a line to the next.
pub(super) const HEIGHT: usize = 11;

/// The characters from the space to the tilde: a byte for each column, the leftmost highest, the top in the lowest bit.
const LETTERS: [u64; 95] = [
    0x0000000000,
    0x00005F0000,
    0x0007000700,
    0x147F147F14,
    0x242A7F2A12,
    0x2313086462,
    0x3649562050,
    0x0008070300,
    0x001C224100,
    0x0041221C00,
    0x2A1C7F1C2A,
    0x08083E0808,
    0x0080703000,
    0x0808080808,
    0x0000606000,
    0x2010080402,
    0x3E5149453E,
    0x00427F4000,
    0x7249494946,
    0x2141494D33,
    0x1814127F10,
    0x2745454539,
    0x3C4A494931,
    0x4121110907,
    0x3649494936,
    0x464949291E,
    0x0000140000,
    0x0040340000,
    0x0008142241,
    0x1414141414,
    0x0041221408,
    0x0201590906,
    0x3E415D594E,
    0x7C1211127C,
    0x7F49494936,
    0x3E41414122,
    0x7F4141413E,
    0x7F49494941,
    0x7F09090901,
    0x3E41415173,
    0x7F0808087F,
    0x00417F4100,
    0x2040413F01,
    0x7F08142241,
    0x7F40404040,
    0x7F021C027F,
    0x7F0408107F,
    0x3E4141413E,
    0x7F09090906,
    0x3E4151215E,
    0x7F09192946,
    0x2649494932,
    0x03017F0103,
    0x3F4040403F,
    0x1F2040201F,
    0x3F4038403F,
    0x6314081463,
    0x0304780403,
    0x6159494D43,
    0x007F414141,
    0x0204081020,
    0x004141417F,
    0x0402010204,
    0x4040404040,
    0x0003070800,
    0x2054547840,
    0x7F28444438,
    0x3844444428,
    0x384444287F,
    0x3854545418,
    0x00087E0902,
    0x18A4A49C78,
    0x7F08040478,
    0x00447D4000,
    0x2040403D00,
    0x7F10284400,
    0x00417F4000,
    0x7C04780478,
    0x7C08040478,
    0x3844444438,
    0xFC18242418,
    0x18242418FC,
    0x7C08040408,
    0x4854545424,
    0x04043F4424,
    0x3C4040207C,
    0x1C2040201C,
    0x3C4030403C,
    0x4428102844,
    0x4C9090907C,
    0x4464544C44,
    0x0008364100,
    0x0000770000,
    0x0041360800,
    0x0201020402,
];

/// How wide a text is.
pub(super) fn width(text: &str) -> usize {
    text.chars().count() * WIDTH
}

/// Calls `set` with each pixel of a text, from its upper left corner; other letters than those of ASCII are question marks.
pub(super) fn draw(text: &str, mut set: impl FnMut(usize, usize)) {
    for (at, letter) in text.chars().enumerate() {
        let letter = LETTERS.get((letter as usize).wrapping_sub(0x20)).unwrap_or(&LETTERS[0x1f]);
        for (column, bits) in letter.to_be_bytes()[3..].iter().enumerate() {
            (0..8).filter(|row| bits >> row & 1 == 1).for_each(|row| set(at * WIDTH + column, row));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str) -> Vec<String> {
        let mut rows = vec![vec![' '; width(text)]; 8];
        draw(text, |x, y| rows[y][x] = '#');
        rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect()
    }

    #[test]
    fn letters_are_drawn_as_they_look() {
        assert_eq!(drawn("T"), ["#####", "# # #", "  #", "  #", "  #", "  #", "  #", ""]);
        assert_eq!(
            drawn("-1"),
            ["        #", "       ##", "        #", "#####   #", "        #", "        #", "       ###", ""]
        );
        assert_eq!(drawn("\u{1b}ü"), drawn("??"));
    }
}
