//! Listeners for tests, each on its own port until the program ends.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc;
use std::thread;

use tokio::net::{TcpListener, TcpStream};

/// A port whose connections are all handled by `each`, until the program ends.
pub fn listen<F>(each: impl Fn(TcpStream) -> F + Send + 'static) -> SocketAddr
where
    F: Future<Output = io::Result<()>> + Send + 'static,
{
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            sender.send(listener.local_addr().unwrap()).unwrap();
            loop {
                let (connection, _) = listener.accept().await.unwrap();
                // A connection that breaks is reported by the other side.
                tokio::spawn(each(connection));
            }
        });
    });
    address.recv().unwrap()
}
