//! Settings: flags in RavenDB's style, variables of the environment, and a file of JSON.

use cli::settings;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// The first byte chooses: 0 the arguments, apart by lines; 1 variables; else a file.
pub(crate) fn settings(input: &[u8]) {
    let Some((how, rest)) = input.split_first() else { return };
    let lines = || rest.split(|byte| *byte == b'\n').map(|line| OsString::from_vec(line.to_vec()));
    let given = match how % 3 {
        0 => match settings::take_flags(lines().collect()) {
            Ok((given, _)) => given,
            Err(_) => return,
        },
        1 => {
            let variables = lines().filter_map(|line| {
                let line = line.into_vec();
                let at = line.iter().position(|byte| *byte == b'=')?;
                Some((OsString::from_vec(line[..at].to_vec()), OsString::from_vec(line[at + 1..].to_vec())))
            });
            match settings::from_environment(variables) {
                Ok(given) => given,
                Err(_) => return,
            }
        }
        _ => {
            let path = std::env::temp_dir().join(format!("rookery-fuzzing-settings-{}", std::process::id()));
            std::fs::write(&path, rest).expect("the temporary folder can be written to");
            let given = settings::from_file(&path);
            std::fs::remove_file(&path).ok();
            match given {
                Ok(given) => given,
                Err(_) => return,
            }
        }
    };
    // Names of hosts would be looked up in the network.
    let is_name = |text: &str| text.replace("http", "").bytes().any(|byte| byte.is_ascii_alphabetic() || byte >= 0x80);
    settings::resolve(
        given.into_iter().filter(|given| !is_name(&given.value) || !given.value.contains("://")).collect(),
    )
    .ok();
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts = [
        "\0--ServerUrl=http://127.0.0.1:8080\n--Setup.Mode=None\n--RunInMemory\n--DataDir\n/tmp/x\nserve",
        "\0--Security.UnsecuredAccessAllowed=PublicNetwork\n--Logs.Mode=Operations\n--log-level\ndebug",
        "\u{1}ROOKERY_SERVERURL=http://[::1]:1\nRAVEN_Setup_Mode=Initial\nROOKERY_LOG_FORMAT=json\nPATH=/bin",
        "\u{2}{\"Setup\":{\"Mode\":\"None\"},\"ServerUrl\":\"http://127.0.0.1:0\",\"DataDir\":\"x\",\"a\":[1,null,true]}",
    ];
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}
