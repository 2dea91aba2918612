//! User objects: something of the application that graphs keep alive, and what ends it when nobody needs it any more.

use std::collections::BTreeMap;

use super::graphs::Graphs;
use super::work::HostCall;
use crate::code::Code;

impl Graphs {
    /// An object that so many need.
    pub(crate) fn create_object(&mut self, end: HostCall, count: u32) -> u64 {
        let handle = self.handle();
        self.objects.0.insert(handle, (count, end));
        handle
    }

    /// So many more need an object.
    pub(crate) fn retain_object(&mut self, object: u64, count: u32) -> Result<(), Code> {
        let (needed, _) = self.objects.0.get_mut(&object).ok_or(Code::INVALID_VALUE)?;
        *needed = needed.checked_add(count).ok_or(Code::INVALID_VALUE)?;
        Ok(())
    }

    /// So many fewer need an object; what to call if none is left, once the runtime is free.
    pub(crate) fn release_object(&mut self, object: u64, count: u32) -> Result<Option<HostCall>, Code> {
        let (needed, end) = self.objects.0.get_mut(&object).ok_or(Code::INVALID_VALUE)?;
        *needed = needed.checked_sub(count).ok_or(Code::INVALID_VALUE)?;
        let ended = (*needed == 0).then_some(*end);
        if ended.is_some() {
            self.objects.0.remove(&object);
        }
        Ok(ended)
    }

    /// A graph needs an object; `moved` if the application gives its own need to it.
    pub(crate) fn graph_retains(&mut self, graph: u64, object: u64, count: u32, moved: bool) -> Result<(), Code> {
        self.graph(graph)?;
        if moved {
            self.objects.0.get(&object).filter(|(needed, _)| *needed >= count).ok_or(Code::INVALID_VALUE)?;
        } else {
            self.retain_object(object, count)?;
        }
        *self.graph_mut(graph)?.objects.entry(object).or_default() += count;
        Ok(())
    }

    /// A graph no longer needs an object.
    pub(crate) fn graph_releases(&mut self, graph: u64, object: u64, count: u32) -> Result<Option<HostCall>, Code> {
        let needed = self.graph_mut(graph)?.objects.get_mut(&object).ok_or(Code::INVALID_VALUE)?;
        *needed = needed.checked_sub(count).ok_or(Code::INVALID_VALUE)?;
        self.release_object(object, count)
    }

    /// What to call when something that needs these objects is gone.
    pub(super) fn release_all(&mut self, objects: &BTreeMap<u64, u32>) -> Vec<HostCall> {
        let ended = objects.iter().filter_map(|(&object, &count)| self.release_object(object, count).ok().flatten());
        ended.collect()
    }

    /// Something else needs these objects too.
    pub(super) fn retain_all(&mut self, objects: &BTreeMap<u64, u32>) {
        for (&object, &count) in objects {
            // Whoever has them needs them, so they are there; more than 2³² needs are not counted.
            let _ = self.retain_object(object, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_ends_when_nobody_needs_it() {
        let mut graphs = Graphs::default();
        let graph = graphs.create();
        let object = graphs.create_object(HostCall { function: None, data: 7 }, 1);
        graphs.graph_retains(graph, object, 1, true).unwrap();
        let executable = graphs.instantiate(graph).unwrap();
        assert!(graphs.destroy(graph).unwrap().is_empty());
        assert_eq!(graphs.destroy_executable(executable).unwrap().len(), 1);
        assert_eq!(graphs.retain_object(object, 1), Err(Code::INVALID_VALUE));
    }
}
