//! A device that is a plant: a message carries the command, its reply the measurement (docs/serve.md).

use wiregauge_control::{Plant, PlantModel};

/// Bytes of a number and of the time.
const NUMBER: usize = 8;

/// Keeps the noise of a plant apart from the other random numbers of the device, which have the same seed.
const SEED: u64 = 0x91a7;

/// The plant behind a device.
pub(super) struct DevicePlant {
    plant: Plant,
    command: Vec<f64>,
}

impl DevicePlant {
    /// At rest.
    pub fn new(model: &PlantModel, seed: u64) -> DevicePlant {
        DevicePlant {
            plant: Plant::new(model.clone(), seed ^ SEED),
            command: Vec::new(),
        }
    }

    /// At rest again. Its time begins with the next request.
    pub fn reset(&mut self) {
        self.plant.reset();
    }

    /// Bytes of a reply: the time, and a number for each output.
    pub fn reply_bytes(&self) -> usize {
        NUMBER * (1 + self.plant.model().system().outputs())
    }

    /// True for a number for each input, all of them finite; and for nothing, which only measures.
    pub fn accepts(&mut self, message: &[u8]) -> bool {
        message.is_empty() || (self.read(message) && self.plant.accepts(&self.command))
    }

    /// Measures, applies the command, and writes as much of the reply as has room.
    pub fn exchange(&mut self, message: &[u8], at_ns: u64, reply: &mut [u8]) {
        self.plant.advance(at_ns);
        let outputs = self.plant.measure();
        if !message.is_empty() && self.read(message) {
            self.plant.apply(&self.command);
        }
        let numbers = outputs.iter().map(|output| output.to_le_bytes());
        let bytes = at_ns.to_le_bytes().into_iter().chain(numbers.flatten());
        for (to, byte) in reply.iter_mut().zip(bytes) {
            *to = byte;
        }
    }

    /// Reads the numbers of a message; false if its length is not that of whole numbers.
    fn read(&mut self, message: &[u8]) -> bool {
        let (numbers, rest) = message.as_chunks::<NUMBER>();
        self.command.clear();
        (self.command).extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        rest.is_empty()
    }
}
