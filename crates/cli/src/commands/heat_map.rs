//! `beamline nn heat-map`: which parts of an image a class comes from, without a fault and with one.

use crate::args;
use crate::commands::study::show;
use crate::failure::{Code, Coded, Failure};
use crate::out;
use anyhow::{Context as _, anyhow};
use fault::Ranges;
use nn::heat_map::{HeatMapper, MappedRun, SensitivityContrast};
use nn::{Fault, NetworkTarget};
use serde::Serialize;
use serde_json::json;
use session::networks;
use stats::{Confidence, Proportion};
use study::{Cell, Frame, Palette, Panel, Picture, Table};

/// How many images are seen if none are named.
const IMAGES: usize = 100;

/// The most letters of a fault in a picture.
const LETTERS: usize = 150;

/// An image with its heat maps.
#[derive(Serialize)]
struct MappedImage {
    image: usize,
    #[serde(flatten)]
    fault_free: Seen,
    faults: Vec<MappedFault>,
}

/// A run, as the document has it.
#[derive(Serialize)]
struct Seen {
    class: usize,
    score: f64,
    softmax: f64,
    map: Vec<f64>,
}

/// A run with a fault, compared with that without.
#[derive(Serialize)]
struct MappedFault {
    /// `least` and `most` sensitive feature map, or `given`.
    which: &'static str,
    fault: String,
    /// The sensitivity of the class to the feature map, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sensitivity: Option<f64>,
    #[serde(flatten)]
    run: Seen,
    difference: f64,
    correlation: Option<f64>,
}

impl Seen {
    fn new(run: &MappedRun) -> Self {
        Self { class: run.class, score: run.score, softmax: run.probability, map: run.map.values.clone() }
    }
}

impl MappedFault {
    fn new(which: &'static str, fault: &Fault, golden: &MappedRun, run: &MappedRun) -> Self {
        Self {
            which,
            fault: fault.to_string(),
            sensitivity: None,
            run: Seen::new(run),
            difference: golden.map.difference(&run.map),
            correlation: golden.map.correlation(&run.map),
        }
    }
}

pub(crate) fn answer(args: &args::HeatMap) -> Result<Code, Failure> {
    let target = networks::open(&args.files.of(&args.network))?.integers().code(Code::Refused)?;
    let mapper = HeatMapper::new(target.network(), target.images().task(), args.layer.as_deref()).code(Code::Usage)?;
    if let Some(path) = &args.out {
        let writable = campaign::files::check_writable(path);
        writable.with_context(|| format!("write {}", path.display())).code(Code::Usage)?;
    }
    let mut runs = Vec::new();
    let images = match &args.fault {
        Some(id) => vec![with_fault(&target, mapper, id, &mut runs)?],
        None => {
            let of = |image| contrast(&target, mapper, image, args.value, &mut runs);
            chosen(&target, &args.image)?.into_iter().map(of).collect::<Result<_, _>>()?
        }
    };
    let layer = &target.network().layers()[mapper.layer()].name;
    if let (Some(path), Some(first)) = (&args.out, images.first()) {
        let drawn = report::study::png(&picture(&target, layer, first, &runs));
        out::file(path, drawn.with_context(|| format!("draw {}", path.display())).code(Code::Bug)?)?;
    }
    if args.json {
        let shape = target.network().output(mapper.layer()).shape;
        out::json(&json!({
            "format": "beamline.heat-map/1",
            "network": target.network().name(),
            "layer": layer,
            "rows": shape.height,
            "columns": shape.width,
            "images": images,
            "most_changes_more": more(&images).map(|it| json!({ "count": it.successes(), "of": it.trials() })),
        }))?;
    } else {
        let title = format!("{}, layer {layer}", target.network().name());
        let all = if images.len() > 1 { of_all(&title, &images, args.value) } else { None };
        show(all.into_iter().chain(images.first().map(|first| of_image(&title, first))).collect())?;
    }
    Ok(Code::Done)
}

/// The images of these numbers that the network gets right, or the first ones.
fn chosen(target: &NetworkTarget, numbers: &[String]) -> Result<Vec<usize>, Failure> {
    let wanted = Ranges::parse("image", numbers).code(Code::Usage)?;
    let images = target.images();
    let is_right = |&image: &usize| {
        let logits = target.network().logits().quantisation.values(target.golden_run(image).logits());
        images.is_right(image, &logits)
    };
    let right = (0..images.count()).filter(|&image| wanted.holds(image as u64)).filter(is_right);
    let found: Vec<usize> = right.take(if wanted.is_all() { IMAGES } else { usize::MAX }).collect();
    match found.is_empty() {
        true => {
            let why = anyhow!("choose images: of {}, the network gets none that is named right", images.count());
            Err(Failure::new(Code::Usage, why))
        }
        false => Ok(found),
    }
}

/// Keeps the runs of the first image, of which pictures are made.
fn keep(runs: &mut Vec<MappedRun>, of_image: impl IntoIterator<Item = MappedRun>) {
    if runs.is_empty() {
        runs.extend(of_image);
    }
}

fn with_fault(
    target: &NetworkTarget,
    mapper: HeatMapper<'_>,
    id: &str,
    runs: &mut Vec<MappedRun>,
) -> Result<MappedImage, Failure> {
    let fault = Fault::parse(id).code(Code::Usage)?;
    let hit = fault.hit(target.network(), target.images().count()).code(Code::Usage)?;
    let pixels = target.images().pixels(fault.image);
    let golden = mapper.fault_free(pixels);
    let faulty = mapper.faulty(pixels, &hit, golden.class);
    let faults = vec![MappedFault::new("given", &fault, &golden, &faulty)];
    let found = MappedImage { image: fault.image, fault_free: Seen::new(&golden), faults };
    keep(runs, [golden, faulty]);
    Ok(found)
}

fn contrast(
    target: &NetworkTarget,
    mapper: HeatMapper<'_>,
    image: usize,
    value: f64,
    runs: &mut Vec<MappedRun>,
) -> Result<MappedImage, Failure> {
    let images = target.images();
    let found =
        SensitivityContrast::new(mapper, (image, images.pixels(image)), value, images.count()).code(Code::Bug)?;
    let golden = &found.fault_free;
    let fault = |which: usize, word| MappedFault {
        sensitivity: golden.sensitivities.get(found.channels[which]).copied(),
        ..MappedFault::new(word, &found.faults[which], golden, &found.faulty[which])
    };
    let faults = vec![fault(0, "least"), fault(1, "most")];
    let mapped = MappedImage { image, fault_free: Seen::new(golden), faults };
    keep(runs, std::iter::once(found.fault_free).chain(found.faulty));
    Ok(mapped)
}

/// In how many images the most sensitive feature map changes the heat map more than the least sensitive one does.
fn more(images: &[MappedImage]) -> Option<Proportion> {
    let is_more = |it: &&MappedImage| matches!(&it.faults[..], [least, most] if most.difference > least.difference);
    let count = images.iter().filter(is_more).count() as u64;
    let has_both = images.iter().all(|it| it.faults.len() == 2);
    Proportion::new(count, images.len() as u64).filter(|_| has_both)
}

/// The means of several images.
fn of_all(title: &str, images: &[MappedImage], value: f64) -> Option<Table> {
    let more = more(images)?;
    let columns = ["feature map", "mean sensitivity", "change of the heat map", "correlation", "another class"];
    let title = format!("{title}: {value} in all neurons of a feature map, {} images", images.len());
    let mut table = Table::new(title, &columns);
    let row = |which: usize, word: &str| {
        let faults = || images.iter().filter_map(move |it| Some((it, it.faults.get(which)?)));
        let mean = |of: &dyn Fn(&MappedFault) -> Option<f64>| {
            let all: Vec<f64> = faults().filter_map(|(_, it)| of(it)).collect();
            if all.is_empty() { Cell::None } else { Cell::Number(all.iter().sum::<f64>() / all.len() as f64) }
        };
        let changed = faults().filter(|(image, it)| it.run.class != image.fault_free.class).count();
        vec![
            Cell::text(word),
            mean(&|it| it.sensitivity),
            mean(&|it| Some(it.difference)),
            mean(&|it| it.correlation),
            Cell::Share(changed as f64 / images.len() as f64),
        ]
    };
    table.rows = vec![row(0, "least sensitive"), row(1, "most sensitive")];
    let bounds = more.wilson(Confidence::PERCENT_95);
    table.notes.push(format!(
        "The most sensitive feature map changes the heat map more in {} of {} images (95 %: {} to {}).",
        more.successes(),
        more.trials(),
        out::percent(bounds.low),
        out::percent(bounds.high)
    ));
    Some(table)
}

/// The runs of an image.
fn of_image(title: &str, it: &MappedImage) -> Table {
    let columns = ["fault", "class", "score", "softmax", "change of the heat map", "correlation"];
    let class = it.fault_free.class;
    let mut table = Table::new(format!("{title}: heat maps of class {class} on image {}", it.image), &columns);
    let run = |name: &str, run: &Seen| {
        let class = Cell::Count(run.class as u64);
        vec![Cell::text(name), class, Cell::Number(run.score), Cell::Number(run.softmax)]
    };
    table.rows.push([run("none", &it.fault_free), vec![Cell::None, Cell::None]].concat());
    for fault in &it.faults {
        let compared = vec![Cell::Number(fault.difference), fault.correlation.map_or(Cell::None, Cell::Number)];
        table.rows.push([run(fault.name(), &fault.run), compared].concat());
    }
    let sentence = |fault: &MappedFault| format!("{}: {}", fault.name(), fault.fault);
    table.notes.extend(it.faults.iter().map(sentence));
    table.notes.push(format!("Scores and softmaxes are those of class {class}; changes are from 0 to 1."));
    table
}

impl MappedFault {
    fn name(&self) -> &'static str {
        match self.which {
            "least" => "least sensitive",
            "most" => "most sensitive",
            _ => "the fault",
        }
    }
}

/// The image, and its heat maps over it.
fn picture(target: &NetworkTarget, layer: &str, it: &MappedImage, runs: &[MappedRun]) -> Picture {
    let shape = target.network().tensors()[0].shape;
    let brightness = |pixel: &[u8]| pixel.iter().map(|&it| f64::from(it)).sum::<f64>() / (255 * pixel.len()) as f64;
    let pixels: Vec<f64> = target.images().pixels(it.image).chunks(shape.channels).map(brightness).collect();
    let plain = Panel {
        caption: format!("image {}", it.image),
        ends: Default::default(),
        width: shape.width,
        palette: Palette::Grey,
        values: pixels.clone(),
        below: Vec::new(),
    };
    let names = std::iter::once("no fault").chain(it.faults.iter().map(MappedFault::name));
    let panel = |(name, run): (&str, &MappedRun)| Panel {
        caption: format!("{name}: class {}, score {:.2}", run.class, run.score),
        ends: ["none".to_owned(), "most".to_owned()],
        palette: Palette::Heat,
        values: run.map.normalised().scaled([shape.height, shape.width]),
        below: pixels.clone(),
        ..plain.clone()
    };
    let maps = names.zip(runs).map(panel);
    let faults = it.faults.iter().map(|it| it.fault.split_once(',').map_or("", |(_, place)| place));
    let mut caption = faults.collect::<Vec<_>>().join("   ");
    if caption.chars().count() > LETTERS {
        caption = caption.chars().take(LETTERS).chain("...".chars()).collect();
    }
    Picture {
        name: "heat-map".to_owned(),
        title: format!("{}, layer {layer}: heat and score of class {}", target.network().name(), it.fault_free.class),
        frames: vec![Frame { caption, panels: std::iter::once(plain.clone()).chain(maps).collect() }],
        still: 0,
    }
}
