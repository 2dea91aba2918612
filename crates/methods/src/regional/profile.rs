//! Profiles of regions: the instructions that faults are drawn from, as a CSV that people read and edit.
//!
//! A row is an instruction of a launch; a row that is taken out takes its instruction out of the region. `opcode` is compared
//! where it is there; `line` and `executions` are for readers and can be left out.

use inject::{CapsuleTarget, NarrowedWords};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::region::Region;
use super::rows::{self, Row};

/// An instruction of a launch in a region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// The region that it belongs to.
    pub region: String,
    /// The kernel, by its full name.
    pub kernel: String,
    /// The launch among those of the kernel, from 0.
    pub launch: u32,
    /// The instruction, by its index in the kernel's program.
    pub instruction: u32,
    /// Its innermost source line, if it is known.
    #[serde(default)]
    pub line: Option<u32>,
    /// Its mnemonic.
    #[serde(default)]
    pub opcode: String,
    /// How often threads execute it where faults can hit.
    #[serde(default)]
    pub executions: u64,
    /// Threads of the region, as in a file of regions.
    #[serde(default)]
    pub threads: String,
    /// Blocks, likewise.
    #[serde(default)]
    pub blocks: String,
    /// Iterations.
    #[serde(default)]
    pub iterations: String,
    /// A condition on a register.
    #[serde(default)]
    pub when: String,
    /// The target.
    #[serde(default)]
    pub target: String,
    /// The model.
    #[serde(default)]
    pub model: String,
}

/// A profile of regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegionProfile {
    /// The rows; those of a region need not follow each other.
    pub rows: Vec<ProfileRow>,
}

impl Row for ProfileRow {
    const ABOUT: [&'static str; 2] = [
        "profile",
        "region,kernel,launch,instruction,line,opcode,executions,threads,blocks,iterations,when,target,model",
    ];
    const NEEDED: &'static [&'static str] = &["region", "kernel", "launch", "instruction"];

    fn texts(&mut self) -> Vec<&mut String> {
        let [region, kernel, opcode] = [&mut self.region, &mut self.kernel, &mut self.opcode];
        let [threads, blocks, iterations] = [&mut self.threads, &mut self.blocks, &mut self.iterations];
        vec![region, kernel, opcode, threads, blocks, iterations, &mut self.when, &mut self.target, &mut self.model]
    }
}

impl ProfileRow {
    /// The words of the row about its region.
    fn said(&self) -> [&str; 6] {
        [&self.threads, &self.blocks, &self.iterations, &self.when, &self.target, &self.model]
    }

    /// The region without its instructions.
    fn region(&self) -> Region {
        let [threads, blocks, iterations, when, target, model] =
            self.said().map(|text| (!text.is_empty()).then(|| text.to_owned()));
        Region { name: self.region.clone(), threads, blocks, iterations, when, target, model, ..Region::default() }
    }
}

impl RegionProfile {
    /// The profile of regions on a capsule.
    ///
    /// # Errors
    /// If a region cannot be aimed at.
    pub(super) fn of(capsule: &CapsuleTarget, regions: &[Region]) -> Result<Self, String> {
        let mut rows = Vec::new();
        for region in regions {
            let narrowed = region.words_for(capsule)?;
            let members = capsule.members_by_instruction(&narrowed).map_err(|error| error.to_string())?;
            // A condition on an element has chosen launches, which the rows name.
            let when = region.when.clone().filter(|_| !narrowed.narrowing.registers.is_empty());
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            for (launch, members) in capsule.golden_run().launches().iter().zip(members) {
                for ((number, instruction), members) in (0..).zip(&launch.program.instructions).zip(members) {
                    let Some(facts) = instruction.facts.as_ref().filter(|_| members > 0) else { continue };
                    rows.push(ProfileRow {
                        region: region.name.clone(),
                        kernel: launch.program.name.clone(),
                        launch: launch.number,
                        instruction: number,
                        line: facts.source.as_ref().map(facts::Source::line),
                        opcode: facts.mnemonic.to_string(),
                        executions: members,
                        threads: text(&region.threads),
                        blocks: text(&region.blocks),
                        iterations: text(&region.iterations),
                        when: text(&when),
                        target: text(&region.target),
                        model: text(&region.model),
                    });
                }
            }
        }
        Ok(Self { rows })
    }

    /// Reads the text of a profile.
    ///
    /// # Errors
    /// With the line, if one cannot be understood; if there is none, or rows of a region contradict each other.
    pub fn read(text: &str) -> Result<Self, String> {
        let profile = Self { rows: rows::read(text)? };
        Region::check(&profile.regions()?)?;
        Ok(profile)
    }

    /// The text of the profile.
    ///
    /// # Errors
    /// Never for rows of texts; what the writer says otherwise.
    pub fn text(&self) -> Result<String, String> {
        rows::text(&self.rows)
    }

    /// Its regions without their instructions, in the order in which they come first.
    pub(super) fn regions(&self) -> Result<Vec<Region>, String> {
        let mut first: Vec<&ProfileRow> = Vec::new();
        for (at, row) in self.rows.iter().enumerate() {
            match first.iter().find(|known| known.region == row.region) {
                None => first.push(row),
                Some(known) if known.said() != row.said() => {
                    return Err(format!(
                        "row {} of it: threads, blocks, iterations, when, target and model are not those of the first row of the region {}",
                        at + 1,
                        row.region
                    ));
                }
                Some(_) => {}
            }
        }
        Ok(first.into_iter().map(ProfileRow::region).collect())
    }

    /// Its regions on a capsule, each narrowed to its instructions.
    ///
    /// # Errors
    /// With the row, if the capsule has no such launch or instruction, or has another one there.
    pub(super) fn narrowed(&self, capsule: &CapsuleTarget) -> Result<Vec<(String, NarrowedWords)>, String> {
        let launches = capsule.golden_run().launches().iter();
        let launches: BTreeMap<(&str, u32), _> =
            launches.map(|launch| ((launch.program.name.as_str(), launch.number), &launch.program)).collect();
        let regions = self.regions()?;
        let words = regions.iter().map(|region| region.words_for(capsule)).collect::<Result<Vec<_>, _>>()?;
        let mut named: Vec<(String, NarrowedWords)> = regions.into_iter().map(|it| it.name).zip(words).collect();
        for (at, row) in self.rows.iter().enumerate() {
            let of_row = |why: String| format!("row {} of it: {why}", at + 1);
            let program = launches.get(&(row.kernel.as_str(), row.launch)).ok_or_else(|| {
                of_row(format!("the program has no launch {} of the kernel {}", row.launch, row.kernel))
            })?;
            let facts = program
                .facts(row.instruction)
                .ok_or_else(|| of_row(format!("the kernel {} has no instruction {}", row.kernel, row.instruction)))?;
            if !row.opcode.is_empty() && row.opcode != facts.mnemonic.as_ref() {
                return Err(of_row(format!("the instruction is `{}`, and not `{}`", facts.mnemonic, row.opcode)));
            }
            if let Some((_, narrowed)) = named.iter_mut().find(|(name, _)| *name == row.region) {
                let all = narrowed.narrowing.instructions.get_or_insert_default();
                all.entry((row.kernel.clone(), row.launch)).or_default().insert(row.instruction);
            }
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(region: &str, instruction: u32) -> ProfileRow {
        let (kernel, opcode, target) = ("_Z1k".into(), "fma.rn.f32".into(), "reg:64".into());
        ProfileRow {
            region: region.into(),
            kernel,
            instruction,
            line: Some(7),
            opcode,
            target,
            ..ProfileRow::default()
        }
    }

    #[test]
    fn a_profile_is_read_back_as_it_is_written() {
        let profile = RegionProfile { rows: vec![row("=K1", 3), row("K2", 4), row("=K1", 5)] };
        let text = profile.text().unwrap();
        assert!(text.contains("\n'=K1,_Z1k,0,3,7,fma.rn.f32,0,,,,,reg:64,\n"), "{text}");
        assert_eq!(RegionProfile::read(&text), Ok(profile.clone()));
        let regions = profile.regions().unwrap();
        assert_eq!(regions.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["=K1", "K2"]);
        assert_eq!(regions[0].target.as_deref(), Some("reg:64"));
        let short = RegionProfile::read("region,kernel,launch,instruction\na,k,0,7\n").unwrap();
        assert_eq!(short.rows[0].instruction, 7);
    }

    #[test]
    fn what_is_no_profile_is_named() {
        for (text, part) in [
            ("", "no column `region`; a profile has region,kernel"),
            ("region,kernel,launch\n", "no column `instruction`"),
            ("region,kernel,launch,instruction\n", "there is no row in the profile"),
            ("region,kernel,launch,instruction\na,k,0,-1\n", "line: 2"),
            ("region,kernel,launch,instruction,threads\na,k,0,1,0\na,k,0,2,1\n", "row 2 of it: threads, blocks"),
            ("region,kernel,launch,instruction,when\na,k,0,1,x\n", "region a: `when` = `x`"),
        ] {
            let error = RegionProfile::read(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
