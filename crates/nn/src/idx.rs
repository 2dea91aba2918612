//! Arrays of bytes in the form IDX, as MNIST and its successors are published: plain, or compressed by gzip.
//!
//! A file begins with two zeros, the type of its elements (8: bytes) and how many sizes follow, each of 32 bits, the most
//! significant byte first. See <http://yann.lecun.com/exdb/mnist/>.

use std::io::Read;

use flate2::read::MultiGzDecoder;

use crate::detection::Object;
use crate::images::Shown;

/// An array of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its sizes, the slowest first.
    pub sizes: Vec<usize>,
    /// Its elements.
    pub bytes: Vec<u8>,
}

/// Why bytes are no array of that kind.
#[derive(Debug, thiserror::Error)]
pub enum IdxError {
    /// It ends within its head.
    #[error("read the head: expected {expected} bytes, found {found}")]
    Short {
        /// The bytes that a head has.
        expected: usize,
        /// The bytes that there are.
        found: usize,
    },
    /// It begins with something else.
    #[error("read the head: expected the magic number {expected:#010x} ({what}), found {found:#010x}{hint}")]
    Magic {
        /// The number that belongs there.
        expected: u32,
        /// The meaning of the file.
        what: &'static str,
        /// The number that is there.
        found: u32,
        /// The files that it may be instead.
        hint: &'static str,
    },
    /// It has more or fewer elements than it says.
    #[error("read the elements: its head says {sizes:?}, which are {expected} bytes, found {found}")]
    Size {
        /// The sizes.
        sizes: Vec<usize>,
        /// Bytes that belong to them.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// It says that it is larger than what is read.
    #[error("read the elements: its head says {sizes:?}, and no more than {MOST} bytes are read")]
    Large {
        /// The sizes.
        sizes: Vec<usize>,
    },
    /// A label is below 0, or beyond 16 bits.
    #[error("read the label of image {image}: expected a class from 0 to {most}, found {found}", most = u16::MAX)]
    Label {
        /// The image.
        image: usize,
        /// The label.
        found: i32,
    },
    /// Objects have other than five numbers each.
    #[error(
        "read the objects: its head says {sizes:?}, expected images, objects of each, and 5: class, top, left, bottom, right"
    )]
    Objects {
        /// The sizes.
        sizes: Vec<usize>,
    },
    /// The compressed bytes are damaged.
    #[error("unpack the bytes by gzip")]
    Unpack(#[source] std::io::Error),
}

/// The most that is read of an array, in bytes.
const MOST: u64 = 1 << 32;

/// The magic number of images: bytes, by number, row and column.
const IMAGES: u32 = 0x0803;

/// The magic number of images in colour: bytes, by number, row, column and channel.
const COLOURS: u32 = 0x0804;

/// The magic number of labels: bytes, by number.
const LABELS: u32 = 0x0801;

/// The magic number of labels of 16 bits, by number.
const SHORT_LABELS: u32 = 0x0b01;

/// The magic number of labels of 32 bits, by number.
const LONG_LABELS: u32 = 0x0c01;

/// Images: bytes by number, row, column and channel. Where the file has no channels, there is one.
///
/// # Errors
/// When they are something else, damaged, or not as many as the head says.
pub fn images(file: &[u8]) -> Result<Array, IdxError> {
    let what = "images: bytes by number, row and column, and in 0x00000804 by channel, too";
    let (_, mut found) = array(file, &[IMAGES, COLOURS], what)?;
    found.sizes.resize(4, 1);
    Ok(found)
}

/// The labels of images: classes by number, or objects by number, each of bytes: class, first row, first column, and the row and
/// column that follow its last. Objects of the class 255 are none.
///
/// # Errors
/// When they are something else, damaged, or not as many as the head says, or when a label is below 0 or beyond 16 bits.
pub fn shown(file: &[u8]) -> Result<Shown, IdxError> {
    let what = "labels: bytes by number; 0x00000b01 and 0x00000c01 are those of 16 and of 32 bits, 0x00000803 objects of a detector: \
                bytes by number, object, and class, top, left, bottom, right";
    let (magic, found) = array(file, &[LABELS, SHORT_LABELS, LONG_LABELS, IMAGES], what)?;
    let labels: Vec<i32> = match magic {
        IMAGES => return objects(&found).map(Shown::Objects),
        SHORT_LABELS => found.bytes.as_chunks().0.iter().map(|&bytes| i16::from_be_bytes(bytes).into()).collect(),
        LONG_LABELS => found.bytes.as_chunks().0.iter().map(|&bytes| i32::from_be_bytes(bytes)).collect(),
        _ => found.bytes.into_iter().map(i32::from).collect(),
    };
    let class = |(image, found)| u16::try_from(found).map_err(|_| IdxError::Label { image, found });
    labels.into_iter().enumerate().map(class).collect::<Result<_, _>>().map(Shown::Classes)
}

/// The class that stands for no object.
const NO_OBJECT: u8 = 255;

fn objects(Array { sizes, bytes }: &Array) -> Result<Vec<Vec<Object>>, IdxError> {
    let [images, each, 5] = sizes[..] else { return Err(IdxError::Objects { sizes: sizes.clone() }) };
    let object = |bytes: &[u8; 5]| (bytes[0] != NO_OBJECT).then(|| Object::of_bytes(bytes));
    let of = |image: usize| bytes[image * each * 5..][..each * 5].as_chunks().0.iter().filter_map(object).collect();
    Ok((0..images).map(of).collect())
}

/// An array that begins with one of these magic numbers, the first of which errors name, and that number.
fn array(file: &[u8], expected: &[u32], what: &'static str) -> Result<(u32, Array), IdxError> {
    let mut reader: Box<dyn Read + '_> = match file {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(file)),
        _ => Box::new(file),
    };
    let mut head = Vec::new();
    let mut read = |length: usize| {
        let rest = length - head.len();
        reader.by_ref().take(rest as u64).read_to_end(&mut head).map_err(IdxError::Unpack)?;
        Ok::<_, IdxError>(head.as_chunks().0.iter().map(|&bytes| u32::from_be_bytes(bytes)).collect::<Vec<_>>())
    };
    let magic = read(4)?.first().copied();
    if let Some(found) = magic.filter(|found| !expected.contains(found)) {
        let hint = match found {
            IMAGES | COLOURS => ", which is that of images",
            LABELS | SHORT_LABELS | LONG_LABELS => ", which is that of labels",
            _ => "; the file is another IDX, or none",
        };
        return Err(IdxError::Magic { expected: expected[0], what, found, hint });
    }
    let magic = magic.unwrap_or(expected[0]);
    let length = 4 * ((magic & 0xff) as usize + 1);
    let words = read(length)?;
    if head.len() < length {
        return Err(IdxError::Short { expected: length, found: head.len() });
    }
    let sizes: Vec<usize> = words[1..].iter().map(|&size| size as usize).collect();
    let element = match magic {
        SHORT_LABELS => 2,
        LONG_LABELS => 4,
        _ => 1,
    };
    let count = sizes.iter().try_fold(element, |product: u64, &size| product.checked_mul(size as u64));
    let Some(count) = count.filter(|&count| count <= MOST) else { return Err(IdxError::Large { sizes }) };
    let mut bytes = Vec::new();
    // One byte more than belongs there tells that there are too many.
    reader.take(count + 1).read_to_end(&mut bytes).map_err(IdxError::Unpack)?;
    match bytes.len() as u64 == count {
        true => Ok((magic, Array { sizes, bytes })),
        false => Err(IdxError::Size { sizes, expected: count, found: bytes.len() as u64 }),
    }
}
