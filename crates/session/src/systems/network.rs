//! A neural network on its images.

use super::system::{StoredNumbers, System, SystemKind, SystemPart};
use crate::error::{ErrorKind, SessionError};
use crate::networks;
use campaign::{Config, Description, EngineOffer, Site, TargetSystem};
use nn::OpenedNetwork;
use outcome::Criteria;

/// The kind.
pub(super) struct NetworkKind;

impl SystemKind for NetworkKind {
    fn takes(&self, config: &Config) -> bool {
        networks::named(&config.capsule).is_some()
    }

    fn engines(&self) -> &'static [EngineOffer] {
        &nn::ENGINES
    }

    fn check(&self, config: &Config) -> Result<(), SessionError> {
        check_words(config, "a network")
    }

    fn describe(&self, config: &Config) -> Description {
        nn::describe(&config.selection, networks::format_of(networks::named(&config.capsule).unwrap_or_default()))
    }

    fn sentence(&self, config: &Config, id: &str) -> Option<String> {
        let format = networks::format_of(networks::named(&config.capsule).unwrap_or_default());
        nn::Fault::parse(id).ok().map(|fault| fault.sentence(format))
    }

    fn open(&self, config: &Config, _: bool) -> Result<Box<dyn System>, SessionError> {
        Ok(Box::new(NetworkSystem(networks::open_named(networks::named(&config.capsule).unwrap_or_default())?)))
    }
}

/// Refuses the words that are of programs on a GPU alone.
pub(super) fn check_words(config: &Config, what: &str) -> Result<(), SessionError> {
    let words = [
        ("fuel", config.fuel.is_some()),
        ("addresses", config.addresses.is_some()),
        ("contract", config.contract.is_some()),
        ("order", config.order.is_some()),
        ("app", config.live.is_some()),
    ];
    match words.into_iter().find(|(_, is_set)| *is_set) {
        Some((word, _)) => {
            let message = format!("choose `{word}` of {what}: that is of programs on a GPU");
            Err(SessionError::new(ErrorKind::Words, message).with_help(format!("leave `{word}` out")))
        }
        None => Ok(()),
    }
}

/// A network whose images were classified without a fault.
#[derive(Debug)]
struct NetworkSystem(OpenedNetwork);

impl System for NetworkSystem {
    fn target(&self) -> TargetSystem<'_> {
        self.0.target()
    }

    fn criteria(&self) -> Criteria {
        self.0.task().criteria()
    }

    fn notes(&self) -> Vec<String> {
        let accuracy = self.0.accuracy();
        let (right, images) = (accuracy.right, accuracy.images);
        vec![format!("{right} of {images} images {}; faults are in runs of these", self.0.task().when_right())]
    }

    fn parts(&self) -> Vec<SystemPart> {
        let layers = self.0.layers().into_iter();
        layers.map(|layer| SystemPart { name: layer.name, group: layer.class.to_owned() }).collect()
    }

    fn stored_numbers(&self) -> Option<StoredNumbers> {
        Some(self.0.format().map_or(StoredNumbers::Integers, StoredNumbers::Floats))
    }

    fn site(&self, id: &str) -> Result<Site, SessionError> {
        Ok(self.0.site(id)?)
    }
}
