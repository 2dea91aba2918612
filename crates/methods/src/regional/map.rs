//! Fault maps: what is to be injected, as a CSV that people read and edit.
//!
//! A row is a run. `region` and `fault` count; the other columns are for readers and can be left out.

use super::rows::{self, Row};
use serde::{Deserialize, Serialize};

/// What a run of a map injects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapRow {
    /// The run, from 0.
    #[serde(default)]
    pub run: u64,
    /// The region that it belongs to.
    pub region: String,
    /// The kernel.
    #[serde(default)]
    pub kernel: String,
    /// The source line, if it is known.
    #[serde(default)]
    pub line: Option<u32>,
    /// The instruction.
    #[serde(default)]
    pub opcode: String,
    /// The text id of the fault.
    pub fault: String,
}

/// A fault map: a run for each row, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FaultMap {
    /// The rows.
    pub rows: Vec<MapRow>,
}

impl Row for MapRow {
    const ABOUT: [&'static str; 2] = ["map", "run,region,kernel,line,opcode,fault"];
    const NEEDED: &'static [&'static str] = &["region", "fault"];

    fn texts(&mut self) -> Vec<&mut String> {
        vec![&mut self.region, &mut self.kernel, &mut self.opcode, &mut self.fault]
    }
}

impl FaultMap {
    /// Reads the text of a map.
    ///
    /// # Errors
    /// With the line, if one cannot be understood, or if there is none.
    pub fn read(text: &str) -> Result<Self, String> {
        rows::read(text).map(|rows| Self { rows })
    }

    /// The text of the map.
    ///
    /// # Errors
    /// Never for rows of texts; what the writer says otherwise.
    pub fn text(&self) -> Result<String, String> {
        rows::text(&self.rows)
    }

    /// The names of its regions, in the order in which they come first.
    #[must_use]
    pub fn regions(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.region) {
                names.push(row.region.clone());
            }
        }
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_back_as_it_is_written() {
        let row = |run: u64, region: &str| MapRow {
            run,
            region: region.into(),
            kernel: "k".into(),
            line: Some(7),
            opcode: "fma.rn.f32".into(),
            fault: "launch=0,cta=1,thread=2,dyn=3,target=dst0,model=flip,bits=4".into(),
        };
        let map = FaultMap { rows: vec![row(0, "K, \"1\""), row(1, "K2")] };
        assert_eq!(FaultMap::read(&map.text().unwrap()), Ok(map.clone()));
        assert_eq!(map.regions(), ["K, \"1\"", "K2"]);
        let edited = "fault,region\n\"launch=0,cta=1,thread=2,dyn=3,target=dst0,model=flip,bits=4\", K2\n";
        let expected = MapRow { kernel: String::new(), line: None, opcode: String::new(), ..row(0, "K2") };
        assert_eq!(FaultMap::read(edited).unwrap().rows, [expected]);
    }

    #[test]
    fn no_cell_of_a_map_is_a_formula() {
        let row = MapRow {
            run: 0,
            region: "=HYPERLINK(\"http://x\",\"y\")".into(),
            kernel: "@k".into(),
            line: None,
            opcode: "-o".into(),
            fault: "+f".into(),
        };
        let map = FaultMap { rows: vec![row] };
        let text = map.text().unwrap();
        let expected = "0,\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\",'@k,,'-o,'+f\n";
        assert_eq!(text.split_once('\n').unwrap().1, expected);
        assert_eq!(FaultMap::read(&text), Ok(map));
    }

    #[test]
    fn what_is_no_map_is_named() {
        for (text, part) in [
            ("", "no column `region`"),
            ("region,kernel\na,b\n", "no column `fault`"),
            ("region,fault\n", "there is no row in the map"),
            ("region,fault\na\n", "line: 2"),
            ("region,fault,line\na,b,c\n", "line: 2"),
        ] {
            let error = FaultMap::read(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
