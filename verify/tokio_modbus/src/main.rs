//! Modbus by tokio-modbus, with the registers of `modbus_server.py`:
//!
//! ```text
//! wiregauge-tokio-modbus serve tcp | PATH       prints `serving WHERE`
//! wiregauge-tokio-modbus read HOST:PORT | PATH  COUNT SILENCE_US   prints the time of each reading of 10 registers in ns
//! ```

use std::error::Error;
use std::future::{Ready, ready};
use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio_modbus::client::{Context, rtu, tcp};
use tokio_modbus::prelude::{ExceptionCode, Reader, Request, Response, Slave, SlaveRequest};
use tokio_modbus::server::{self, Service};
use tokio_serial::SerialStream;

const REGISTERS: usize = 100;
/// Registers of one reading by the client.
const READ: u16 = 10;
const UNIT: u8 = 1;
const BAUD: u32 = 115_200;

/// 100 holding registers from address 0 that hold 1000 and so on; other addresses are exceptions. Other units have none.
#[derive(Clone)]
struct Registers(Arc<Mutex<[u16; REGISTERS]>>);

impl Registers {
    fn new() -> Registers {
        Registers(Arc::new(Mutex::new(std::array::from_fn(|at| {
            1000 + at as u16
        }))))
    }

    fn answer(&self, request: Request<'_>) -> Result<Response, ExceptionCode> {
        let mut held = self.0.lock().expect("no thread panics with it");
        let outside = ExceptionCode::IllegalDataAddress;
        match request {
            Request::ReadHoldingRegisters(address, count) => {
                let first = usize::from(address);
                let read = held.get(first..first + usize::from(count)).ok_or(outside)?;
                Ok(Response::ReadHoldingRegisters(read.to_vec()))
            }
            Request::WriteMultipleRegisters(address, values) => {
                let first = usize::from(address);
                let written = held.get_mut(first..first + values.len()).ok_or(outside)?;
                written.copy_from_slice(&values);
                Ok(Response::WriteMultipleRegisters(
                    address,
                    values.len() as u16,
                ))
            }
            _ => Err(ExceptionCode::IllegalFunction),
        }
    }
}

impl Service for Registers {
    type Request = SlaveRequest<'static>;
    type Response = Option<Response>;
    type Exception = ExceptionCode;
    type Future = Ready<Result<Option<Response>, ExceptionCode>>;

    fn call(&self, asked: SlaveRequest<'static>) -> Self::Future {
        ready(match asked.slave {
            UNIT => self.answer(asked.request).map(Some),
            _ => Ok(None),
        })
    }
}

fn say(place: &str) -> std::io::Result<()> {
    println!("serving {place}");
    std::io::stdout().flush()
}

async fn serve(place: &str) -> Result<(), Box<dyn Error>> {
    let registers = Registers::new();
    if place != "tcp" {
        let line = SerialStream::open(&tokio_serial::new(place, BAUD))?;
        say(place)?;
        return Ok(server::rtu::Server::new(line)
            .serve_forever(registers)
            .await?);
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    say(&format!("tcp://{}", listener.local_addr()?))?;
    let connected = |stream: TcpStream, _| {
        let registers = registers.clone();
        async move { stream.set_nodelay(true).map(|()| Some((registers, stream))) }
    };
    // A client that goes resets its connection; the next one is served.
    Ok(server::tcp::Server::new(listener)
        .serve(&connected, |_| ())
        .await?)
}

async fn connect(place: &str) -> Result<Context, Box<dyn Error>> {
    if place.starts_with('/') {
        let line = SerialStream::open(&tokio_serial::new(place, BAUD))?;
        return Ok(rtu::attach_slave(line, Slave(UNIT)));
    }
    let stream = TcpStream::connect(place).await?;
    stream.set_nodelay(true)?;
    Ok(tcp::attach_slave(stream, Slave(UNIT)))
}

/// Reads registers again and again; the library leaves the silence before a request on a serial line to the program.
async fn read(place: &str, count: usize, silence: Duration) -> Result<(), Box<dyn Error>> {
    let mut context = connect(place).await?;
    let mut took = Vec::with_capacity(count);
    for _ in 0..count {
        let begin = Instant::now();
        let values = context.read_holding_registers(0, READ).await??;
        took.push(begin.elapsed().as_nanos());
        if values.len() != usize::from(READ) {
            return Err("a reply of another size".into());
        }
        if !silence.is_zero() {
            std::thread::sleep(silence);
        }
    }
    let mut out = std::io::stdout().lock();
    for time in took {
        writeln!(out, "{time}")?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        match words[..] {
            ["serve", place] => serve(place).await,
            ["read", place, count, silence_us] => {
                let silence = Duration::from_micros(silence_us.parse()?);
                read(place, count.parse()?, silence).await
            }
            _ => Err("serve tcp|PATH, or read HOST:PORT|PATH COUNT SILENCE_US".into()),
        }
    })
}
