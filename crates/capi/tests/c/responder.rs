//! Devices to talk to: a responder of the engine, and one that never says a word.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use wiregauge_record::Protocol;
use wiregauge_responder::{DeviceConfig, Faults, Model, Serve, ServeAddress, ServeEvent, serve};

/// A responder that ends with the test.
pub struct Responder {
    pub address: String,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Responder {
    pub fn start(protocol: Protocol) -> Responder {
        Responder::with(protocol, Faults::default())
    }

    pub fn with(protocol: Protocol, faults: Faults) -> Responder {
        let what = Serve {
            address: ServeAddress::parse("tcp://127.0.0.1:0").unwrap(),
            config: DeviceConfig {
                protocol,
                name: "walked over".into(),
                max_frame: 1 << 20,
                model: Model::default(),
                modbus: wiregauge_record::ModbusLine::Tcp,
                faults,
                seed: 1,
                plant: None,
            },
            max_clients: 16,
            baud: None,
            trace: None,
        };
        let stop = Arc::new(AtomicBool::new(false));
        let (tell, printed) = std::sync::mpsc::channel();
        let thread = std::thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                let news = |news: ServeEvent<'_>| {
                    if let ServeEvent::Ready { address, .. } = news {
                        tell.send(address.to_owned()).unwrap();
                    }
                };
                serve(&what, &stop, &news).unwrap();
            }
        });
        Responder {
            address: printed.recv_timeout(Duration::from_secs(240)).unwrap(),
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

/// The kernel accepts for it; nobody reads.
pub fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    (listener, address)
}
