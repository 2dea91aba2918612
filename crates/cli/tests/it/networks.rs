//! Neural networks: campaigns by layer, single faults, and what to protect.

use crate::{json, path, rows, run, stderr, stdout};
use campaign::Finding;
use tempfile::TempDir;

#[test]
fn a_network_is_irradiated_like_any_other_target() {
    let dir = TempDir::new().unwrap();
    let (first, second) = (dir.path().join("a"), dir.path().join("b"));
    let words = ["nn", "campaign", "fashion", "--runs", "2000", "--seed", "1", "--json", "--out"];
    let found = json(&[&words[..], &[path(&first)]].concat());
    assert_eq!((found["format"].as_str(), found["runs"]["landed"].as_u64()), (Some("beamline.summary/1"), Some(2000)));
    let layers: Vec<&str> =
        found["by_kernel"].as_array().unwrap().iter().map(|part| part["name"].as_str().unwrap()).collect();
    assert_eq!(layers, ["c1", "c2", "c3", "c4", "c5", "dw", "pw"]);
    for class in ["masked", "sdc", "due", "undecided"] {
        let rate = &found["outcomes"][class];
        assert!(rate["low"].as_f64() <= rate["rate"].as_f64(), "{class}: {rate}");
        assert!(rate["rate"].as_f64() <= rate["high"].as_f64(), "{class}: {rate}");
    }
    // Whole runs of the network come to the same rows, and so does the general command.
    let full = ["campaign", "nn:fashion", "--runs", "2000", "--seed", "1", "--engine", "full", "--json", "--out"];
    json(&[&full[..], &[path(&second)]].concat());
    let outcomes = |dir| rows(dir).into_iter().map(|row| format!("{:?}", (row.site, row.finding))).collect::<Vec<_>>();
    let same = |text: &str| text.split("instructions").next().unwrap_or_default().to_owned();
    let pairs: Vec<(String, String)> = outcomes(&first).into_iter().zip(outcomes(&second)).collect();
    assert!(pairs.len() == 2000 && pairs.iter().all(|(a, b)| same(a) == same(b)));
    // A fault is repeated by its id, and the report speaks of networks.
    let id = rows(&first)[7].site.fault().unwrap().to_owned();
    assert_eq!(json(&["nn", "inject", "fashion", &id, "--json"])["site"]["id"], id.as_str());
    let report = dir.path().join("r.md");
    assert!(run(&["report", path(&first), "--markdown", path(&report)]).status.success());
    let text = std::fs::read_to_string(report).unwrap();
    assert!(text.contains("In the stored output of one neuron") && !text.contains("PTX"), "{text}");
    // Faults to be repeated are told in sentences.
    assert!(text.contains("- In the inference on image ") && text.contains(" of the output of layer "), "{text}");
    assert!(run(&["resume", path(&first)]).status.success());
}

#[test]
fn what_a_network_does_not_have_is_refused() {
    for (words, part) in [
        (&["nn", "campaign", "nope"][..], "find the network `nope`: there are `fashion`"),
        (&["nn", "campaign", "--kernel", "c9", "--runs", "5"], "select the layer `c9`: there are c1"),
        (&["nn", "campaign", "--method", "gpu-qin", "--runs", "5"], "no method is known for networks"),
        (&["nn", "campaign", "--lines", "a.cu:3", "--runs", "5"], "a network has layers, operator classes and images"),
        (&["campaign", "nn:fashion", "--fuel", "3", "--runs", "5"], "choose `fuel` of a network"),
        (&["nn", "sweep", "--model", "random"], "only single bits of `flip` can all be tried"),
        (&["nn", "campaign", "--where", "melt", "--runs", "5"], "hit `melt`: of a network it is neuron"),
        (
            &["nn", "campaign", "--where", "bias", "--scope", "row", "--runs", "5"],
            "hit a pattern of rows and columns: ",
        ),
        (&["nn", "campaign", "--images", "a", "--labels", "b", "--runs", "5"], "read a: "),
        (&["campaign", "nn:fashion;images=a", "--runs", "5"], "it has images or labels alone"),
        (&["info", "nn:fashion"], "it is a neural network"),
        (&["nn", "inject", "fashion", "image=1"], "it has no `layer`"),
        (&["nn", "heat-map", "fashion", "image=1"], "it has no `layer`"),
        (
            &["nn", "heat-map", "fashion", "--layer", "gap"],
            "layers with rows and columns are c1, c2, c3, c4, add, dw, pw, c5",
        ),
        (&["nn", "heat-map", "scenes"], "make heat maps of `scenes`: it finds objects"),
        (&["nn", "heat-map", "fashion", "--format", "fp16"], "this is for networks of INT8"),
        (&["nn", "heat-map", "fashion", "--image", "1000-"], "image"),
        (&["nn", "heat-map", "fashion", "--image", "1000"], "of 1000, the network gets none that is named right"),
        (&["nn", "filr", "--injections", "0"], "injections per feature map"),
        (&["nn", "filr", "--injections", "1", "--exhaustive", "801"], "images of the exhaustive truth"),
        (&["nn", "filr", "--analysis", "1"], "share of the analysis set"),
        (&["nn", "campaign", "--runs", "20", "--fail-if", "kernel:c9/sdc>0.5"], "there is no such kernel, but add, c1"),
    ] {
        let output = run(words);
        assert!(!output.status.success() && stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn heat_maps_are_compared_and_drawn_whole_or_not_at_all() {
    let dir = TempDir::new().unwrap();
    let picture = dir.path().join("heat.png");
    let fault = "image=17,layer=c5,tensor=out,at=5:*:*,model=random,bits=0xff";
    let found = json(&["nn", "heat-map", "fashion", fault, "--out", path(&picture), "--json"]);
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    assert_eq!((found["format"].as_str(), found["layer"].as_str()), (Some("beamline.heat-map/1"), Some("c5")));
    assert_eq!((found["rows"].as_u64(), found["columns"].as_u64()), (Some(7), Some(7)));
    let image = &found["images"][0];
    assert_eq!((image["image"].as_u64(), image["class"].as_u64()), (Some(17), Some(4)));
    assert_eq!(
        (image["faults"][0]["which"].as_str(), image["faults"][0]["fault"].as_str()),
        (Some("given"), Some(fault))
    );
    for run in [image, &image["faults"][0]] {
        assert_eq!(run["map"].as_array().map(Vec::len), Some(49));
        assert!(run["score"].is_number() && (0.0..=1.0).contains(&run["softmax"].as_f64().unwrap()), "{run}");
    }
    assert!(image["faults"][0]["difference"].as_f64().unwrap() > 0.0 && image["faults"][0]["correlation"].is_number());
    // Without a fault it makes two, in each of some images.
    let found = json(&["nn", "heat-map", "fashion", "--layer", "pw", "--image", "0-9", "--json"]);
    let images = found["images"].as_array().unwrap();
    assert!(images.len() > 5 && found["most_changes_more"]["of"].as_u64() == Some(images.len() as u64));
    for image in images {
        let [least, most] = [0, 1].map(|at| image["faults"][at]["sensitivity"].as_f64().unwrap());
        assert!(least < most && image["faults"][1]["which"] == "most", "{image}");
    }
    let text = stdout(&run(&["nn", "heat-map", "fashion", "--image", "0-9"]));
    assert!(text.contains("The most sensitive feature map changes the heat map more in "), "{text}");
    // Where a file cannot be written, or something else is wrong, there is none.
    let nowhere = dir.path().join("no").join("heat.png");
    let refused = run(&["nn", "heat-map", "fashion", "--out", path(&nowhere)]);
    assert!(!refused.status.success() && stderr(&refused).contains("write ") && stdout(&refused).is_empty());
    let wrong = dir.path().join("wrong.png");
    assert!(!run(&["nn", "heat-map", "fashion", "image=1", "--out", path(&wrong)]).status.success());
    let left: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["heat.png"]);
}

#[test]
fn feature_maps_and_inferences_are_chosen_and_judged_on_images_that_chose_nothing() {
    let found = json(&["nn", "filr", "--injections", "32", "--seed", "3", "--json"]);
    assert_eq!((found["format"].as_str(), found["maps"].as_array().unwrap().len()), (Some("beamline.filr/1"), 136));
    let sets = &found["sets"];
    assert_eq!((sets["analysis"].as_u64(), sets["deployment"].as_u64()), (Some(800), Some(200)));
    let combination = &found["filr"][0]["combination"];
    assert!(combination["coverage"].as_f64().unwrap() >= 1.0 && combination["overhead"].as_f64().unwrap() < 1.0);
    let heuristics = found["heuristics"].as_array().unwrap();
    assert!(heuristics.len() == 7 && heuristics.iter().all(|it| it["agreement"]["distance"].as_f64().unwrap() > 0.0));
    assert_eq!(found["flr"][0]["agreement"]["distance"].as_f64(), Some(0.0));
    // Each technique says what its own choice comes to where it was not chosen.
    let choices = found["choices"].as_array().unwrap();
    let technique = |it: &serde_json::Value| it["technique"].as_str().unwrap().to_owned();
    assert_eq!(choices.iter().map(technique).collect::<Vec<_>>(), ["flr", "ilr", "filr"]);
    for choice in choices {
        let deployed = &choice["deployed"];
        let share = deployed["covered"]["share"].as_f64().unwrap();
        let [low, high] = [0, 1].map(|end| deployed["by_images"][end].as_f64().unwrap());
        assert!(choice["coverage"].as_f64() == Some(1.0) && low <= share && share <= high, "{choice}");
    }
    let text = stdout(&run(&["nn", "filr", "--injections", "16", "--exhaustive", "6"]));
    assert!(text.contains("Orders of feature maps held against the oracle") && text.contains("ModGain"), "{text}");
    assert!(
        text.contains("All 940 800 faults of 6 images") && text.contains("Injections that an agreement needs"),
        "{text}"
    );
    assert!(text.contains("Least overhead for a coverage of the analysis set"), "{text}");
    // Of this one image, none changes the class.
    let text = stdout(&run(&["nn", "filr", "--injections", "16", "--exhaustive", "1"]));
    assert!(text.contains("was run, and none changed the class") && !text.contains("All 156 800"), "{text}");
}

#[test]
fn weights_are_hit_on_images_of_files_and_every_fault_of_an_image_is_run() {
    let dir = TempDir::new().unwrap();
    let file = |name: &str, head: &[u32], bytes: &[u8]| {
        let head = head.iter().flat_map(|word| word.to_be_bytes());
        let path = dir.path().join(name);
        std::fs::write(&path, head.chain(bytes.iter().copied()).collect::<Vec<u8>>()).unwrap();
        path
    };
    let bundled = nn::bundled::open("fashion").unwrap();
    let images = file("images", &[0x803, 20, 28, 28], &bundled.images().all_pixels()[..20 * 784]);
    let labels: Vec<u8> = bundled.images().labels()[..20].iter().map(|&label| label as u8).collect();
    let labels = file("labels", &[0x801, 20], &labels);
    let files = ["--images", path(&images), "--labels", path(&labels)];
    let made = dir.path().join("weights");
    let words = ["nn", "campaign", "fashion", "--where", "weight", "--model", "range:-0.5..0.5", "--scope", "row:each"];
    let found = json(&[&words[..], &files, &["--runs", "300", "--seed", "2", "--json", "--out", path(&made)]].concat());
    assert_eq!(found["runs"]["landed"].as_u64(), Some(300));
    assert!(found["by_kernel"].as_array().unwrap().iter().any(|part| part["name"] == "fc"));
    let id = rows(&made)[3].site.fault().unwrap().to_owned();
    assert!(id.contains("tensor=weight") && id.contains("model=random"), "{id}");
    let inject = json(&[&["nn", "inject", "fashion", &id, "--json"][..], &files].concat());
    assert_eq!(inject["site"]["id"], id.as_str());
    assert!(run(&["resume", path(&made)]).status.success());
    let report = dir.path().join("r.md");
    assert!(run(&["report", path(&made), "--markdown", path(&report)]).status.success());
    let text = std::fs::read_to_string(report).unwrap();
    assert!(text.contains("In one stored weight in one inference, a number drawn uniformly from -0.5..0.5"), "{text}");
    // Every bit of what a layer makes of one image.
    let right = (0..20).find(|&image| {
        nn::forward::top_class(bundled.golden_run(image).logits()) == usize::from(bundled.images().labels()[image])
    });
    let image = right.unwrap().to_string();
    let swept = dir.path().join("swept");
    let words = ["nn", "sweep", "--image", &image, "--kernel", "gap,fc", "--json", "--out", path(&swept)];
    assert_eq!(json(&[&words[..], &files].concat())["runs"]["landed"].as_u64(), Some((32 + 10) * 8));
}

#[test]
fn a_layer_is_hit_as_a_kernel_and_written_as_a_capsule() {
    let dir = TempDir::new().unwrap();
    let capsule = dir.path().join("c3.capsule");
    let words =
        ["nn", "kernel", "fashion", "--layer", "c3", "--runs", "600", "--inferences", "3", "--seed", "4", "--json"];
    let found = json(&[&words[..], &["--jobs", "2", "--capsule", path(&capsule)]].concat());
    assert_eq!(json(&[&words[..], &["--jobs", "1"]].concat()), found);
    let count = |key: &str| found[key].as_u64().unwrap();
    let corrupted = found["corrupted"]["runs"].as_u64().unwrap();
    assert_eq!(count("masked") + count("due") + count("undecided") + corrupted, count("runs"));
    assert!(count("changed_neurons") > corrupted && found["patterns"].as_array().unwrap().len() > 2, "{found}");
    assert_eq!(found["neuron_flips"]["runs"].as_u64(), Some(600));
    let kernel = json(&["campaign", path(&capsule), "--runs", "50", "--json", "--out", path(&dir.path().join("made"))]);
    assert_eq!(kernel["by_kernel"][0]["name"], "tiled");
    for (words, part) in [
        (["nn", "kernel", "fashion", "--layer", "dw"], "run the layer `dw` as a kernel: it is `depthwise`"),
        (["nn", "kernel", "fashion", "--layer", "c9"], "find the layer `c9` of `fashion`: it has c1, c2"),
        (["nn", "kernel", "scenes", "--layer", "c1"], "the network finds objects"),
    ] {
        let output = run(&words);
        assert!(!output.status.success() && stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn a_detector_loses_objects_and_finds_some_where_none_is() {
    let dir = TempDir::new().unwrap();
    let made = dir.path().join("scenes");
    let words = ["nn", "campaign", "scenes", "--runs", "300", "--scope", "channel", "--model", "random", "--json"];
    let found = json(&[&words[..], &["--out", path(&made)]].concat());
    assert!(found["sdc"]["bad"].as_u64().unwrap() > 5, "{found}");
    let with_phantoms = rows(&made).into_iter().filter(|row| match &row.finding {
        Finding::Seen { observation, .. } => {
            observation.outputs.iter().any(|output| output.name == "phantom" && output.differing > 0)
        }
        _ => false,
    });
    assert!(with_phantoms.count() > 0);
    let text = stdout(&run(&["nn", "info", "scenes"]));
    assert!(text.contains("267 of 400 images have all of their objects found, and no others"), "{text}");
}

#[test]
fn networks_are_listed_with_their_layers() {
    assert_eq!(json(&["nn", "list", "--json"])["networks"][0]["name"], "fashion");
    let info = json(&["nn", "info", "fashion", "--json"]);
    assert_eq!((info["population"]["neurons"].as_u64(), info["accuracy"]["of"].as_u64()), (Some(19_600), Some(1000)));
    assert!(stdout(&run(&["nn", "info"])).contains("depthwise"));
}

#[test]
fn numbers_of_every_format_are_hit_and_told_by_their_fields() {
    for (format, bits, sizes) in [("fp32", 32, [1, 8, 23]), ("fp16", 16, [1, 5, 10]), ("bf16", 16, [1, 8, 7])] {
        let dir = TempDir::new().unwrap();
        let made = dir.path().join("made");
        let words =
            ["nn", "campaign", "fashion", "--format", format, "--runs", "600", "--seed", "4", "--out", path(&made)];
        let found = json(&[&words[..], &["--json"]].concat());
        let runs = |part: &serde_json::Value| part["runs"].as_u64().unwrap();
        let by_bit = found["by_bit"].as_array().unwrap();
        assert!(by_bit.len() == bits && by_bit.iter().map(runs).sum::<u64>() == 600, "{format}: {by_bit:?}");
        let fields = found["by_field"].as_array().unwrap();
        let names: Vec<&str> = fields.iter().map(|field| field["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["sign", "exponent", "mantissa"]);
        // Bits of a field are together what the field is.
        let mut from_below = by_bit.iter().map(runs);
        for (field, size) in fields.iter().zip(sizes).rev() {
            assert_eq!(from_below.by_ref().take(size).sum::<u64>(), runs(field), "{format}: {field}");
            let rate = &field["sdc"];
            assert!(rate["low"].as_f64() < rate["rate"].as_f64() && rate["rate"].as_f64() < rate["high"].as_f64());
        }
        let id = rows(&made)[0].site.fault().unwrap().to_owned();
        let again = json(&["nn", "inject", "fashion", &id, "--format", format, "--json"]);
        assert_eq!(again["site"]["id"], id.as_str());
        let sentence = again["sentence"].as_str().unwrap();
        let field = ["(sign)", "(exponent)", "(mantissa)"].iter().any(|field| sentence.contains(field));
        assert!(sentence.starts_with("In the inference on image ") && field, "{sentence}");
    }
    let id = "image=17,layer=c3,tensor=out,at=5:3:11,model=flip,bits=14";
    let text = stdout(&run(&["nn", "inject", "fashion", id, "--format", "fp16"]));
    let sentence = "bit 14 (exponent) of the output of layer c3 at channel 5, row 3, column 11 flips.";
    assert!(text.contains(sentence) && text.contains("the stored value 0x") && !text.contains("instruction"), "{text}");
    for words in [&["nn", "inject", "fashion", id, "--format", "fp8"][..], &["nn", "campaign", "--format", "fp8"]] {
        assert!(stderr(&run(words)).contains("there are fp32, fp16, bf16"), "{words:?}");
    }
    // INT8 has no such bit.
    assert!(
        stderr(&run(&["nn", "inject", "fashion", id])).contains("bits"),
        "{}",
        stderr(&run(&["nn", "inject", "fashion", id]))
    );
}

#[test]
fn runs_that_stop_early_are_counted_and_bits_have_a_table() {
    let dir = TempDir::new().unwrap();
    let made = |name: &str| dir.path().join(name);
    let words = ["nn", "campaign", "fashion", "--runs", "2000", "--seed", "1", "--out"];
    let text = stdout(&run(&[&words[..], &[path(&made("text"))]].concat()));
    assert!(text.contains("stopped early: nothing differed any more before the output"), "{text}");
    assert!(text.contains("\nbit  runs   masked         95 %"), "{text}");
    let found = json(&[&words[..], &[path(&made("json")), "--json"]].concat());
    let (speed, stopped) = (&found["speed"], &found["speed"]["stopped_early"]);
    assert_eq!((speed["tiers"]["delta"].as_u64(), speed["tiers"].get("stopped")), (Some(2000), None));
    let rate = stopped["rate"].as_f64().unwrap();
    assert!((stopped["count"].as_u64().unwrap() as f64 / 2000.0 - rate).abs() < 1e-12);
    assert!(stopped["low"].as_f64().unwrap() < rate && rate < stopped["high"].as_f64().unwrap());
    // All of them are masked, and some more runs are.
    assert!(rate < found["outcomes"]["masked"]["rate"].as_f64().unwrap());
    assert_eq!((found["by_bit"].as_array().unwrap().len(), found.get("by_field")), (8, None));
    let full = json(&[&words[..], &[path(&made("full")), "--engine", "full", "--json"]].concat());
    assert_eq!((full["speed"].get("stopped_early"), &full["by_bit"]), (None, &found["by_bit"]));
    // Values that replace all bits name none of them.
    let out = made("zero");
    let zero = ["nn", "campaign", "--model", "zero", "--runs", "50", "--out", path(&out)];
    assert!(!stdout(&run(&zero)).contains("\nbit "));
}

#[test]
fn generations_are_irradiated_and_shown_with_what_a_fault_changes() {
    let dir = TempDir::new().unwrap();
    for (operand, layers) in [("activation", 23..24), ("weight", 14..20), ("cache", 4..5)] {
        let out = dir.path().join(operand);
        let words = ["nn", "generate", "--where", operand, "--runs", "1500", "--seed", "1", "--json", "--out"];
        let found = json(&[&words[..], &[path(&out)]].concat());
        assert_eq!(found["runs"]["landed"].as_u64(), Some(1500), "{operand}");
        let parts = found["method"]["layers"].as_array().unwrap();
        assert_eq!(found["method"]["format"].as_str(), Some("beamline.generation/1"));
        assert!(layers.contains(&parts.len()), "{operand}: {}", parts.len());
        let all = &found["method"]["operands"][0];
        assert!(all["low"].as_f64() <= all["rate"].as_f64() && all["rate"].as_f64() <= all["high"].as_f64());
        let (span, changed) = (&all["span"], all["changed"].as_u64().unwrap());
        assert!(changed > 0 && span["lower"].as_u64() <= span["upper"].as_u64(), "{operand}: {all}");
        let bad = found["outcomes"]["sdc"]["count"].as_u64().unwrap();
        assert!(bad >= changed, "{operand}: {bad} {changed}");
    }
    let out = dir.path().join("text");
    let text = stdout(&run(&["nn", "generate", "--runs", "300", "--out", path(&out)]));
    assert!(text.contains("Tokens that faults change") && text.contains("h0.attention"), "{text}");
    let changed = rows(&out).into_iter().find_map(|row| {
        let Finding::Seen { observation, .. } = row.finding else { return None };
        observation.outputs.iter().any(|it| it.name == "tokens" && it.differing > 0).then_some(row.site)
    });
    let id = changed.unwrap().fault().unwrap().to_owned();
    let text = stdout(&run(&["nn", "generate", "--show", &id]));
    assert!(["  golden   ", "  faulty   ", " ^"].iter().all(|part| text.contains(part)), "{text}");
    assert!(!json(&["nn", "generate", "--show", &id, "--json"])["differing"].as_array().unwrap().is_empty());
    for (words, part) in [
        (&["nn", "generate", "nope", "--runs", "5"][..], "find the language model `nope`: there are `language`"),
        (&["nn", "generate", "--where", "melt", "--runs", "5"], "of a language model it is activation"),
        (&["nn", "generate", "--kernel", "h7.q", "--runs", "5"], "select the layer `h7.q`: there are embed"),
        (&["nn", "generate", "--prompt", "64", "--runs", "5"], "their numbers are 0 to 63"),
        (&["nn", "generate", "--show", "prompt=1"], "read a fault of a generation: it has no `step`"),
        (&["info", "language:language"], "it is a language model"),
        (&["campaign", "language:language", "--fuel", "3", "--runs", "5"], "choose `fuel` of a language model"),
    ] {
        let output = run(words);
        assert!(!output.status.success() && stderr(&output).contains(part), "{words:?}: {}", stderr(&output));
    }
}

#[test]
fn a_network_that_gets_no_image_right_has_layers_still() {
    let dir = TempDir::new().unwrap();
    let (images, labels) = (dir.path().join("images"), dir.path().join("labels"));
    let sizes =
        |magic: u32, sizes: &[u32]| [magic].iter().chain(sizes).flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
    std::fs::write(&images, [sizes(0x803, &[2, 28, 28]), vec![0; 2 * 28 * 28]].concat()).unwrap();
    let of = |label: u8| {
        std::fs::write(&labels, [sizes(0x801, &[2]), vec![label; 2]].concat()).unwrap();
        json(&["nn", "info", "fashion", "--images", path(&images), "--labels", path(&labels), "--json"])
    };
    let wrong = (0..10).map(of).filter(|info| info["accuracy"]["count"] == 0).collect::<Vec<_>>();
    assert_eq!(wrong.len(), 9, "both images have one class");
    assert!(wrong.iter().all(|info| info["population"].is_null() && info["layers"].as_array().unwrap().len() > 5));
}
