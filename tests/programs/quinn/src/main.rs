//! Sends one stream over QUIC (quinn) for some time, as a flow of the simulator does.
//!
//! Usage: `quinn-bulk server ADDRESS`, or `quinn-bulk client HOST:PORT ALGORITHM SECONDS` with `reno`, `cubic` or `bbr`.
//! The client prints `time_ms srtt_us cwnd_bytes sent_pkts` each 10 ms, and then totals.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quinn::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn::crypto::rustls::QuicClientConfig;
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};

type Failure = Box<dyn Error + Send + Sync>;

const SAMPLE: Duration = Duration::from_millis(10);
const CHUNK_BYTES: usize = 1 << 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["server", address] => serve(address.parse()?).await,
        ["client", address, algorithm, seconds] => {
            let time = Duration::from_secs_f64(seconds.parse()?);
            // IPv4 if there is one, as the simulator's packets have it.
            let found = tokio::net::lookup_host(address)
                .await?
                .min_by_key(SocketAddr::is_ipv6);
            send(found.ok_or("no such host")?, algorithm, time).await
        }
        _ => Err("usage: server ADDRESS, or client HOST:PORT ALGORITHM SECONDS".into()),
    }
}

/// Reads what comes, for ever.
async fn serve(address: SocketAddr) -> Result<(), Failure> {
    let own = rcgen::generate_simple_self_signed(vec!["server".to_owned()])?;
    let key = PrivatePkcs8KeyDer::from(own.key_pair.serialize_der());
    let config = ServerConfig::with_single_cert(vec![own.cert.into()], key.into())?;
    let endpoint = Endpoint::server(config, address)?;
    while let Some(incoming) = endpoint.accept().await {
        let connection = incoming.await?;
        tokio::spawn(read(connection));
    }
    Ok(())
}

/// Reads a stream to its end.
async fn read(connection: Connection) -> Result<(), Failure> {
    let mut stream = connection.accept_uni().await?;
    while stream.read_chunk(usize::MAX, true).await?.is_some() {}
    connection.closed().await;
    Ok(())
}

fn factory(algorithm: &str) -> Result<Arc<dyn ControllerFactory + Send + Sync>, Failure> {
    match algorithm {
        "reno" => Ok(Arc::new(NewRenoConfig::default())),
        "cubic" => Ok(Arc::new(CubicConfig::default())),
        "bbr" => Ok(Arc::new(BbrConfig::default())),
        _ => Err(format!("unknown algorithm `{algorithm}`; use `reno`, `cubic` or `bbr`").into()),
    }
}

async fn send(address: SocketAddr, algorithm: &str, time: Duration) -> Result<(), Failure> {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(factory(algorithm)?);
    let tls = rustls::ClientConfig::builder()
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate))
        .with_no_client_auth();
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(Arc::new(transport));
    let any: SocketAddr = if address.is_ipv6() {
        "[::]:0"
    } else {
        "0.0.0.0:0"
    }
    .parse()?;
    let endpoint = Endpoint::client(any)?;
    let began = Instant::now();
    let connection = endpoint.connect_with(config, address, "server")?.await?;
    let mut stream = connection.open_uni().await?;
    let chunk = vec![0; CHUNK_BYTES];
    let write = async {
        let mut bytes = 0;
        while began.elapsed() < time {
            bytes += stream.write(&chunk).await?;
        }
        stream.finish()?;
        stream.stopped().await?; // all of it is acknowledged
        Ok::<usize, Failure>(bytes)
    };
    let mut lines = String::new();
    let sample = async {
        let mut next = tokio::time::Instant::now();
        loop {
            next += SAMPLE;
            tokio::time::sleep_until(next).await;
            let path = connection.stats().path;
            let (ms, srtt_us) = (began.elapsed().as_millis(), path.rtt.as_micros());
            lines += &format!("{ms} {srtt_us} {} {}\n", path.cwnd, path.sent_packets);
        }
    };
    let bytes = tokio::select! {
        written = write => written?,
        () = sample => 0, // it has no end
    };
    let (ms, path) = (began.elapsed().as_millis(), connection.stats().path);
    connection.close(VarInt::from_u32(0), b"");
    endpoint.wait_idle().await;
    print!("{lines}");
    println!(
        "total bytes {bytes} ms {ms} lost_pkts {}",
        path.lost_packets
    );
    Ok(())
}

/// Believes every server: a test's has a certificate of its own.
#[derive(Debug)]
struct AnyCertificate;

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![
            SignatureScheme::ECDSA_NISTP256_SHA256,
            SignatureScheme::ED25519,
        ]
    }
}
