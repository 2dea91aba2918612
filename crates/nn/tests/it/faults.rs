//! Ids of faults: read, printed, checked; and the population that they are drawn from.

use campaign::{Planner, RunIndex, SelectionWords, Stratify};
use nn::{ElementRegion, Fault, FaultPart, LayerOperand};

use crate::kit::{fashion, flip};

#[test]
fn an_id_is_read_and_printed_as_it_was() {
    let id = "image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6";
    let fault = Fault::parse(id).unwrap();
    let at = vec![ElementRegion::place(&[5, 3, 11])];
    let part = FaultPart { layer: "c3".into(), operand: LayerOperand::Out, at, models: vec![flip(6)] };
    assert_eq!(fault, Fault { image: 17, parts: vec![part] });
    for (id, places) in [
        (id, 1),
        ("image=0,layer=fc,tensor=out,at=9,model=random,bits=0x1f", 1),
        ("image=1,layer=gap,tensor=out,at=31:0:0,model=zero,bits=all", 1),
        ("image=1,layer=c1,tensor=out,at=0:0:0,model=stuck1,bits=0+7", 1),
        ("image=1,layer=c2,tensor=weight,at=15:7:2:0,model=flip,bits=7", 1),
        ("image=1,layer=fc,tensor=weight,at=9:31,model=flip,bits=7", 1),
        ("image=1,layer=c2,tensor=bias,at=15,model=flip,bits=31", 1),
        ("image=1,layer=add,tensor=in2,at=0:13:13,model=zero,bits=all", 1),
        ("image=1,layer=c1,tensor=in,at=0:27:*,model=flip,bits=0", 28),
        ("image=1,layer=c1,tensor=out,at=7:*:*,model=flip,bits=0", 784),
        ("image=1,layer=c1,tensor=out,at=7:2-3:4-6,model=random,bits=0x1/0x2/0x3/0x4/0x5/0xff", 6),
        ("image=1,layer=c1,tensor=out,at=7:2:3+6:2:3,model=flip,bits=3+4/5", 2),
        ("image=1,layer=c1,tensor=out,at=7:2:3,model=flip,bits=3;layer=c2,tensor=bias,at=0,model=zero,bits=all", 2),
    ] {
        let fault = Fault::parse(id).unwrap();
        assert_eq!(fault.to_string(), id);
        assert_eq!(fault.hit(fashion().network(), 1000).unwrap().places().len(), places, "{id}");
        assert_eq!(fashion().site(id).unwrap().fault(), Some(id));
    }
    let with_node = format!("node=4,{id}");
    assert_eq!(Fault::parse(&with_node).unwrap(), Fault::parse(id).unwrap());
}

#[test]
fn a_wrong_id_is_answered_with_what_was_expected() {
    let message = |id: &str| Fault::parse(id).unwrap_err().to_string();
    let with =
        |from: &str, to: &str| message(&"image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6".replace(from, to));
    assert_eq!(with("image=17,", ""), "read a fault of a network: it has no `image`");
    assert_eq!(with("layer=c3", "layer=c3,layer=c3"), "read a fault of a network: it has two of `layer`");
    assert_eq!(with("17", "-1"), "read `image=-1`: expected the number of an image");
    assert_eq!(with("17", ""), "read `image=`: expected the number of an image");
    assert_eq!(with("out", "melt"), "read `tensor=melt`: expected out, weight, bias, or in, in2 and so on for inputs");
    for at in ["5:x", "", "5:3-3", "5:4-3", "5::1", "5:3:11+"] {
        assert!(with("5:3:11", at).starts_with(&format!("read `at={at}`: expected coordinates")), "{at}");
    }
    assert_eq!(with("flip", "melt"), "read `model=melt`: expected flip, random, zero, stuck0 or stuck1");
    for bits in ["128", "6+3", "3+3", "", "+3", "0x1", "6/"] {
        let last = bits.rsplit('/').next().unwrap();
        let expected = format!("read `bits={last}`: expected bit numbers from 0 to 127, ascending and joined by +");
        assert_eq!(with("bits=6", &format!("bits={bits}")), expected);
    }
    assert!(message("").starts_with("read ``: a fault is image=I,"), "{}", message(""));
    assert!(with("image", "picture").starts_with("read `picture=17`: "));
    assert_eq!(
        with("bits=6", "bits=6;image=3,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6"),
        "read a fault of a network: it has two of `image`"
    );
}

#[test]
fn a_place_that_is_not_there_is_answered_with_what_there_is() {
    let message = |id: &str| {
        Fault::parse(id).unwrap().hit(fashion().network(), fashion().images().count()).unwrap_err().to_string()
    };
    let with =
        |from: &str, to: &str| message(&"image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=6".replace(from, to));
    assert_eq!(with("17", "1000"), "find image 1000: there are 1000, counted from 0");
    assert_eq!(
        with("c3", "c6"),
        "find the layer `c6` of `fashion`: its layers are c1, c2, c3, c4, add, dw, pw, c5, gap, fc"
    );
    for at in ["16:0:0", "0:14:0", "0:0:14", "5", "18446744073709551615:0:0", "0:0:0-14"] {
        let expected = "`out` of the layer `c3`: it has 16 channels, 14 rows and 14 columns";
        assert_eq!(with("5:3:11", at), format!("find `at={at}` in {expected}"));
    }
    assert_eq!(
        with("c3,tensor=out,at=5:3:11", "fc,tensor=out,at=1:0:0"),
        "find `at=1:0:0` in `out` of the layer `fc`: it has 10 channels and neither rows nor columns"
    );
    let weight = with("c3,tensor=out,at=5:3:11", "dw,tensor=weight,at=1:1:0:0");
    assert!(weight.ends_with("it has 16 filters of 1 channels, 3 rows and 3 columns"), "{weight}");
    let operand = with("c3,tensor=out", "add,tensor=weight");
    assert_eq!(operand, "hit `weight` of the layer `add`: it has in, in2, out");
    assert_eq!(with("bits=6", "bits=8"), "read `bits=8`: an element of `out` has 8 bits, counted from 0");
    let several = "read `bits` of 14 places: expected one change for all, or one for each, joined by /; found 2";
    assert_eq!(with("11,model=flip,bits=6", "*,model=flip,bits=6/7"), several);
}

/// The sites of so many runs.
fn sites(runs: u64, selection: &SelectionWords) -> Vec<campaign::Site> {
    let runs: Vec<RunIndex> = (0..runs).map(RunIndex).collect();
    fashion().plan(&runs, selection, 5).unwrap()
}

#[test]
fn neurons_are_drawn_with_the_same_chance_and_not_layers() {
    let (runs, total) = (200_000, 19_600.0);
    let sites = sites(runs, &SelectionWords::default());
    for layer in fashion().layers() {
        let found = sites.iter().filter(|site| site.spot.kernel == layer.name).count() as f64;
        let usual = matches!(layer.class, "conv" | "depthwise");
        let share = if usual { layer.neurons as f64 / total } else { 0.0 };
        let (expected, deviation) = (share * runs as f64, (runs as f64 * share * (1.0 - share)).sqrt());
        assert!((found - expected).abs() <= 5.0 * deviation, "{}: {found} of {expected}", layer.name);
    }
    // Bits, and images, evenly; only images that are right.
    let counts = |label: usize, of: usize| {
        let mut counts = vec![0_u32; of];
        sites.iter().filter_map(|site| site.labels.number(label)).for_each(|at| counts[at as usize] += 1);
        counts
    };
    let images = counts(0, 1000);
    assert_eq!(images.iter().filter(|&&count| count > 0).count(), fashion().accuracy().right);
    let images: Vec<u64> = images.iter().filter(|&&count| count > 0).map(|&count| count.into()).collect();
    let expected = vec![runs as f64 / images.len() as f64; images.len()];
    assert!(stats::chi_square(&images, &expected).unwrap().p > 1e-4);
    let bit = |site: &campaign::Site| site.labels.text(4).and_then(|bits| bits.parse::<usize>().ok());
    for wanted in 0..8 {
        let found = sites.iter().filter(|site| bit(site) == Some(wanted)).count() as f64;
        assert!((found - 25_000.0).abs() < 5.0 * 148.0, "bit {wanted}: {found}");
    }
}

#[test]
fn layers_and_classes_are_selected_by_name_and_others_are_refused() {
    let select = |kernel: &[&str], group: &[&str]| SelectionWords {
        kernel: kernel.iter().map(|&word| word.to_owned()).collect(),
        group: group.iter().map(|&word| word.to_owned()).collect(),
        ..SelectionWords::default()
    };
    let neurons = |selection: &SelectionWords| fashion().population(selection).unwrap();
    assert_eq!(neurons(&select(&[], &[])), (19_600, fashion().accuracy().right as u64));
    assert_eq!(neurons(&select(&["c1", "fc"], &[])).0, 6282);
    assert_eq!(neurons(&select(&[], &["add", "pool", "dense"])).0, 3136 + 32 + 10);
    assert_eq!(neurons(&select(&["c1", "dw"], &["depthwise"])).0, 784);
    assert!(sites(50, &select(&["fc"], &[])).iter().all(|site| site.spot.kernel == "fc"));
    let message = |selection: &SelectionWords| fashion().plan(&[RunIndex(0)], selection, 1).unwrap_err().to_string();
    assert_eq!(
        message(&select(&["c9"], &[])),
        "select the layer `c9`: there are c1, c2, c3, c4, add, dw, pw, c5, gap, fc"
    );
    let classes = "select the operator class `fp32`: there are conv, add, depthwise, pool, dense";
    assert_eq!(message(&select(&[], &["fp32"])), classes);
    assert!(message(&select(&["c1"], &["add"])).starts_with("select layers: none has both"));
    let words = |word: &str| SelectionWords { model: Some(word.to_owned()), ..SelectionWords::default() };
    assert!(message(&words("melt")).contains("use model `melt`: expected one of flip"), "{}", message(&words("melt")));
    assert!(message(&words("range:1..-1")).starts_with("use the model `range:1..-1`: expected value:V or range:A..B"));
    assert!(message(&words("flip:9")).starts_with("use the model on elements of 8 bits"));
    let target = |word: &str| SelectionWords { target: Some(word.to_owned()), ..SelectionWords::default() };
    assert!(message(&target("pred")).starts_with("hit `pred`: of a network it is neuron"));
    let lines = SelectionWords { lines: vec!["a.cu:1-2".to_owned()], ..SelectionWords::default() };
    assert!(message(&lines).starts_with("select source lines `a.cu:1-2`"));
    let scope = SelectionWords { scope: Some("warp".to_owned()), ..SelectionWords::default() };
    assert!(message(&scope).starts_with("hit the scope `warp`"));
}

#[test]
fn strata_are_layers_or_classes_and_take_turns() {
    let by = |stratify| SelectionWords { stratify: Some(stratify), ..SelectionWords::default() };
    let strata = fashion().strata(&by(Stratify::Kernel)).unwrap();
    let right = fashion().accuracy().right as u64;
    let names: Vec<&str> = strata.iter().map(|stratum| stratum.name.as_str()).collect();
    assert_eq!(names, ["c1", "c2", "c3", "c4", "dw", "pw", "c5"]);
    assert_eq!(strata.iter().map(|stratum| stratum.members).sum::<u64>(), 19_600 * right);
    for (run, site) in sites(70, &by(Stratify::Kernel)).iter().enumerate() {
        assert_eq!((site.stratum, site.spot.kernel.as_str()), (Some(run as u32 % 7), names[run % 7]));
    }
    assert_eq!(fashion().strata(&by(Stratify::Group)).unwrap().len(), 2);
    assert!(fashion().strata(&by(Stratify::Threads)).is_err());
}
