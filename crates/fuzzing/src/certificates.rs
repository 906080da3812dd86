//! Certificates: what clients send in a handshake, and the files of a server's certificate (PFX and PEM).

pub(crate) fn certificates(input: &[u8]) {
    server::fuzzing::read_certificates(input);
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let files: [&[u8]; 7] = [
        include_bytes!("../../server/tests/certificates/openssl-aes.pfx"),
        include_bytes!("../../server/tests/certificates/openssl-rc2.pfx"),
        include_bytes!("../../server/tests/certificates/openssl-3des.pfx"),
        include_bytes!("../../server/tests/certificates/dotnet-no-password.pfx"),
        include_bytes!("../../server/tests/certificates/java.pfx"),
        include_bytes!("../../server/tests/certificates/server.pem"),
        include_bytes!("../../server/tests/certificates/server.der"),
    ];
    files.map(<[u8]>::to_vec).to_vec()
}
