//! Which words in a key's name say that its value is a secret?
//!
//! A name is cut into words (`DB_PASSWORD`, `dbPassword`, `db-password` are the same two), and its head decides: the last
//! words, written together. `password_ttl` has the head `ttl` and is none. Substrings were rejected: `compass`,
//! `passthrough` and `monkey` hold `pass` and `key`.
//!
//! Every line of a table has its reason. Add a word there, and a case in `tests/mask.rs`.

use super::memory::{Memory, recall};
use foldhash::{HashMap, HashSet};
use std::borrow::Cow;
use std::sync::OnceLock;
use unicode_normalization::UnicodeNormalization as _;

/// How much a name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// The value is hidden when it looks random.
    Weak,
    /// The value is hidden unless it is one of the words that configuration has there (`auth: basic`).
    Medium,
    /// The value is hidden unless it cannot be a secret.
    Strong,
}

/// What a name says about the value under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// How much.
    pub(super) strength: Strength,
    /// The word that says so.
    pub(super) word: &'static str,
    /// Whether a number can be such a secret: a PIN, a password; never a token, where a number is a count.
    pub(super) numbers: bool,
    /// Whether the name is a plural, whose children are the secrets.
    pub(super) many: bool,
}

/// Heads that are found as the end of a longer word too: `datenbankpasswort`, `stripeapikey`.
struct Heads {
    words: &'static [&'static str],
    strength: Strength,
    numbers: bool,
    /// Whether the words also count at the end of a longer word.
    suffix: bool,
    /// The reason. A line of another language names it before a colon.
    why: &'static str,
}

impl Heads {
    fn named(&self, word: &'static str, many: bool) -> Named {
        // A password is a number as often as not, whatever it is the password of.
        let password = ["pass", "pw", "pwd", "psk", "password"].iter().any(|end| word.ends_with(end));
        Named { strength: self.strength, word, numbers: self.numbers || password, many }
    }
}

use Strength::{Medium, Strong, Weak};

const fn heads(
    strength: Strength,
    numbers: bool,
    suffix: bool,
    words: &'static [&'static str],
    why: &'static str,
) -> Heads {
    Heads { words, strength, numbers, suffix, why }
}

/// The heads, longest suffix wins.
const HEADS: &[Heads] = &[
    heads(
        Strong,
        true,
        true,
        &["password", "passwd", "passwrd", "passphrase", "passcode", "pword", "pwd", "pswd", "passwort", "passw"],
        "what a person types to get in; a number is one as often",
    ),
    heads(
        Strong,
        true,
        false,
        &["pw", "psw", "pin", "puk", "otp", "totp", "tan", "cvv", "cvc", "cvv2", "mfa"],
        "too short to be found inside words",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "pincode",
            "userpin",
            "simpin",
            "cardpin",
            "doorpin",
            "adminpin",
            "accesscode",
            "securitycode",
            "verificationcode",
            "unlockcode",
            "recoverycode",
            "backupcode",
            "onetimecode",
            "pairingcode",
            "setupcode",
            "activationcode",
            "smscode",
            "mfacode",
            "claimcode",
            "mastercode",
            "panelcode",
            "lockcode",
            "keypadcode",
            "gatecode",
            "disarmcode",
            "duresscode",
            "homekitcode",
            "invitecode",
            "authcode",
            "authorizationcode",
            "scratchcode",
            "doorcode",
            "entrycode",
            "alarmcode",
            "otpcode",
            "usercode",
            "safecombination",
            "lockcombination",
            "doorcombination",
            "vaultcombination",
        ],
        "`code` alone is a country's or an error's; with these before it, it opens something",
    ),
    heads(
        Strong,
        false,
        true,
        &["secret", "secrets", "clientsecret", "sharedsecret", "sekret"],
        "says it itself; a number under it is a version or a count",
    ),
    heads(
        Strong,
        false,
        true,
        &["token", "authtoken", "bearertoken", "jwttoken"],
        "bearer credentials; `max_tokens` is a number and stays",
    ),
    heads(Strong, false, true, &["credential", "credentials", "creds"], "user and password together"),
    heads(
        Strong,
        false,
        true,
        &[
            "apikey",
            "secretkey",
            "privatekey",
            "privkey",
            "prvkey",
            "signingkey",
            "signkey",
            "masterkey",
            "encryptionkey",
            "encryptkey",
            "decryptionkey",
            "cryptkey",
            "cryptokey",
            "cipherkey",
            "authkey",
            "authorizationkey",
            "accesskey",
            "accountkey",
            "storagekey",
            "sharedkey",
            "presharedkey",
            "sessionkey",
            "cookiekey",
            "csrfkey",
            "jwtkey",
            "hmackey",
            "aeskey",
            "deskey",
            "rsakey",
            "dsakey",
            "ecdsakey",
            "ed25519key",
            "sshkey",
            "gpgkey",
            "pgpkey",
            "deploykey",
            "licensekey",
            "licencekey",
            "activationkey",
            "productkey",
            "serialkey",
            "integrationkey",
            "servicekey",
            "serviceaccountkey",
            "adminkey",
            "adminapikey",
            "writekey",
            "ingestkey",
            "ingestionkey",
            "instrumentationkey",
            "consumerkey",
            "webhookkey",
            "verificationkey",
            "recoverykey",
            "unsealkey",
            "walletkey",
            "rootkey",
            "appkey",
            "applicationkey",
            "subscriptionkey",
            "functionkey",
            "functionskey",
            "hostkey",
            "devicekey",
            "userkey",
            "clientkey",
            "serverkey",
            "tlskey",
            "sslkey",
            "cakey",
            "certkey",
            "certificatekey",
            "pemkey",
            "joinkey",
            "clusterkey",
            "gossipkey",
            "transitkey",
            "wrappingkey",
            "vaultkey",
            "datakey",
            "kek",
            "dek",
            "zonekey",
            "tsigkey",
            "rndckey",
            "wpakey",
            "wepkey",
            "wifikey",
            "networkkey",
            "bootkey",
            "railsmasterkey",
            "replicasetkey",
            "keyfilecontent",
            "ifacekey",
            "wirelesskey",
            "localkey",
            "nwkskey",
            "appskey",
            "preauthkey",
            "ingresskey",
            "egresskey",
            "groupmasterkey",
            "blindkey",
            "blockkey",
            "deterministickey",
            "envkey",
            "nextauthkey",
            "stripekey",
            "sendgridkey",
            "mailgunkey",
            "openaikey",
            "anthropickey",
            "geminikey",
            "mapskey",
            "googlekey",
            "azurekey",
            "awskey",
            "githubkey",
            "gitlabkey",
            "slackkey",
            "twiliokey",
            "algoliakey",
            "datadogkey",
            "ddkey",
            "newrelickey",
            "sentrykey",
            "pagerdutykey",
            "opsgeniekey",
            "jwtsigningkey",
            "symmetrickey",
            "sastokenkey",
            "saskey",
            "readkey",
            "searchkey",
            "querykey",
            "machinekey",
            "validationkey",
            "keyfilekey",
            "apisecretkey",
            "secretkeybase",
            "internalkey",
            "pepper",
            "restkey",
            "partnerkey",
            "merchantkey",
            "workspacekey",
            "teamkey",
            "sdkkey",
            "llmkey",
            "modelkey",
            "paymentkey",
            "fernetkey",
            "flaskkey",
            "djangokey",
            "laravelkey",
            "signaturekey",
            "tokenkey",
            "securitykey",
            "securekey",
            "hiddenkey",
            "backendkey",
            "databasekey",
            "dbkey",
            "smtpkey",
            "mailkey",
            "emailkey",
            "smskey",
            "pushkey",
            "vapidkey",
            "apnskey",
            "fcmkey",
            "botkey",
            "hookkey",
            "callbackkey",
            "oauthkey",
            "ssokey",
            "samlkey",
            "ldapkey",
            "vpnkey",
            "wgkey",
            "wireguardkey",
            "ipseckey",
            "ikekey",
            "bgpkey",
            "ospfkey",
            "radiuskey",
            "tacacskey",
            "snmpkey",
            "enablekey",
            "tradingkey",
            "iotkey",
            "subscriberkey",
            "publisherkey",
            "noncekey",
            "loggedinkey",
            "otpkey",
            "totpkey",
            "tunnelkey",
            "rolekey",
            "primaryaccesskey",
            "secondaryaccesskey",
            "primarysharedkey",
            "secondarysharedkey",
            "primarymasterkey",
            "secondarymasterkey",
            "postserveritem",
            "mfaseed",
            "totpseed",
            "otpseed",
            "geniekey",
            "relaykey",
            "agentkey",
            "nodekey",
            "peerkey",
            "tajnyklic",
        ],
        "`key` alone is a cache key or a map key; with one of these before it, it opens something",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "connectionsecret",
            "roottoken",
            "bindpw",
            "rootpw",
            "dbpw",
            "userpw",
            "adminpw",
            "ldappw",
            "basicauthpw",
            "requirepass",
            "masterauth",
            "dbpass",
            "mysqlpass",
            "storepass",
            "keypass",
            "userpass",
            "privpass",
            "rootpass",
            "adminpass",
            "sudopass",
            "becomepass",
            "mailpass",
            "smtppass",
            "ftppass",
            "proxypass",
            "rpcpass",
            "redispass",
            "authpass",
            "sshpass",
            "pgpass",
            "myspass",
            "loginpass",
            "bindpass",
            "ldappass",
            "svcpass",
            "apppass",
            "ansiblepass",
            "vaultpass",
            "keyphrase",
            "seedphrase",
            "recoveryphrase",
            "secretphrase",
            "backupphrase",
            "walletseed",
            "otpseed",
            "totpseed",
            "mnemonic",
            "privatekeypem",
            "erlangcookie",
            "sastoken",
            "sasurl",
            "snmpcommunity",
            "rocommunity",
            "rwcommunity",
            "psk",
            "wpapsk",
            "wifipsk",
            "ipsecpsk",
            "passkey",
            "authsecret",
            "authtok",
            "honeycombteam",
            "passwordin",
            "githuboauth",
            "gitlaboauth",
            "bitbucketoauth",
            "npmauthident",
            "authident",
            "authuserinfo",
            "userpwd",
            "passworddoublesha",
            "authhash",
            "passwdmd",
            "passwordhash",
            "passwordhashed",
            "hashedpassword",
            "passwordsalt",
            "passwordbcrypt",
            "passwordsha",
            "pwhash",
            "pwdhash",
            "passwdhash",
            "secrethash",
            "userpassword",
            "htpasswd",
            "rpcauth",
            "communitystring",
            "secretvars",
            "secretvalues",
            "basicauthuser",
            "basicauthusers",
            "authusers",
        ],
        "habits of one product each, written together in lower case",
    ),
    heads(Medium, true, false, &["pass"], "a password in most files, a counter or a mode in some"),
    heads(
        Medium,
        false,
        false,
        &[
            "auth",
            "authorization",
            "authorisation",
            "basicauth",
            "httpauth",
            "proxyauth",
            "salt",
            "bearer",
            "jwt",
            "sas",
            "hashsalt",
            "authsalt",
            "saltkey",
            "xauth",
            "xauthkey",
            "dockerauth",
            "registryauth",
            "identitytoken",
            "pat",
            "npmauth",
            "dockerconfigjson",
            "dockercfg",
        ],
        "often a scheme or a mode; everything else under it is the credential",
    ),
    heads(
        Weak,
        false,
        false,
        &[
            "key",
            "code",
            "cookie",
            "cookies",
            "hash",
            "signature",
            "sig",
            "sign",
            "seed",
            "dsn",
            "private",
            "license",
            "licence",
            "serial",
            "community",
            "phrase",
            "secretid",
            "sessionid",
            "session",
            "sid",
            "nonce",
            "passwordkey",
            "secretkeykey",
            "tokenkeyref",
            "hmac",
            "encryption",
            "pem",
            "blob",
            "keys",
            "routingkey",
            "apikeyid",
            "credentialid",
            "webhook",
            "webhookurl",
            "connectionstring",
            "connstr",
            "digestauth",
            "unseal",
            "keytab",
            "keystore",
            "crypt",
            "sessiontokenid",
            "identity",
            "ticket",
            "assertion",
            "xsrf",
            "csrf",
            "challenge",
        ],
        "names much that is public: only a value that looks random counts",
    ),
    // Other languages. Found at the end of a longer word, because many of them write compounds.
    heads(
        Strong,
        true,
        true,
        &["kennwort", "geheimcode", "losungswort", "zugangscode", "zugangspin", "geheimzahl"],
        "German: password",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "geheimnis",
            "geheim",
            "apischluessel",
            "zugangsdaten",
            "zugangsschluessel",
            "privatschluessel",
            "geheimschluessel",
            "apischlüssel",
            "geheimschlüssel",
            "zugangsschlüssel",
        ],
        "German: secret, key, credentials",
    ),
    heads(
        Strong,
        true,
        true,
        &["motdepasse", "motpasse", "mdp", "motsecret", "codesecret", "codeacces", "phrasesecrete", "phrasedepasse"],
        "French: password",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "jeton",
            "clesecrete",
            "cléesecrète",
            "clésecrète",
            "cleapi",
            "cléapi",
            "cleprivee",
            "cléprivée",
            "identifiants",
        ],
        "French: token, secret key",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "contraseña",
            "contrasena",
            "contrasenya",
            "contrasinal",
            "clave",
            "claveacceso",
            "clavesecreta",
            "claveprivada",
            "claveapi",
        ],
        "Spanish, Catalan, Galician: password, key",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "secreto",
            "segredo",
            "credenciales",
            "credenciais",
            "credenziali",
            "chavesecreta",
            "chaveapi",
            "chaveprivada",
            "chavedeapi",
            "chaveacesso",
        ],
        "Spanish, Portuguese: secret, credentials",
    ),
    heads(Strong, true, true, &["senha", "palavrapasse", "palavrachave", "palavrasecreta"], "Portuguese: password"),
    heads(
        Strong,
        true,
        true,
        &[
            "parolachiave",
            "parolaaccesso",
            "parolasegreta",
            "parola",
            "parolă",
            "parole",
            "parool",
            "parol",
            "fjalekalimi",
            "fjalëkalimi",
        ],
        "Italian, Romanian, Turkish, Latvian, Estonian, Albanian: password",
    ),
    heads(
        Strong,
        false,
        true,
        &["segreto", "chiavesegreta", "chiaveapi", "chiaveprivata", "gettone"],
        "Italian: secret, key",
    ),
    heads(Strong, true, true, &["wachtwoord", "wachtzin", "toegangscode"], "Dutch: password"),
    heads(
        Strong,
        false,
        true,
        &["sleutelgeheim", "apisleutel", "geheimesleutel", "privesleutel", "inloggegevens"],
        "Dutch: key",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "lösenord",
            "losenord",
            "passord",
            "adgangskode",
            "adgangskoden",
            "kodeord",
            "salasana",
            "tunnussana",
            "lykilorð",
            "lykilord",
        ],
        "Swedish, Norwegian, Danish, Finnish, Icelandic: password",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "hemlighet",
            "hemlig",
            "hemmelighet",
            "hemmelighed",
            "hemmelig",
            "salaisuus",
            "apinyckel",
            "apinøkkel",
            "apinokkel",
            "apinøgle",
            "apiavain",
        ],
        "Nordic: secret, key",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "hasło",
            "haslo",
            "heslo",
            "geslo",
            "lozinka",
            "lozinku",
            "sifra",
            "šifra",
            "zaporka",
            "slaptažodis",
            "slaptazodis",
            "jelszó",
            "jelszo",
        ],
        "Slavic, Baltic, Hungarian: password",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "tajne",
            "tajemnica",
            "tajni",
            "tajna",
            "kluczapi",
            "klucztajny",
            "kluczprywatny",
            "klicapi",
            "titok",
            "apikulcs",
        ],
        "Slavic, Hungarian: secret, key",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "şifre",
            "sifre",
            "sifresi",
            "şifresi",
            "parolasi",
            "parolası",
            "gizlianahtar",
            "gizli",
            "apianahtari",
            "apianahtarı",
        ],
        "Turkish: password, secret",
    ),
    heads(
        Strong,
        true,
        true,
        &["пароль", "парол", "парола", "пароли", "лозинка", "пинкод", "пінкод"],
        "Cyrillic: password",
    ),
    heads(
        Strong,
        false,
        true,
        &[
            "секрет",
            "тайна",
            "таємниця",
            "токен",
            "жетон",
            "ключдоступа",
            "секретныйключ",
            "ключapi",
            "apiключ",
            "закрытыйключ",
            "приватныйключ",
            "секретнийключ",
            "тајна",
        ],
        "Cyrillic: secret, token, key",
    ),
    heads(Strong, true, true, &["κωδικός", "κωδικος", "κωδικόςπρόσβασης", "συνθηματικό"], "Greek: password"),
    heads(Strong, true, true, &["密码", "密碼", "口令", "暗码", "暗號", "通行码"], "Chinese: password"),
    heads(
        Strong,
        false,
        true,
        &["密钥", "密鑰", "私钥", "私鑰", "秘钥", "令牌", "机密", "機密", "凭证", "憑證", "凭据", "金钥", "金鑰"],
        "Chinese: key, token, secret",
    ),
    heads(
        Strong,
        true,
        true,
        &["パスワード", "パスフレーズ", "パスコード", "暗証番号", "合言葉"],
        "Japanese: password, PIN",
    ),
    heads(
        Strong,
        false,
        true,
        &["秘密", "秘密鍵", "シークレット", "トークン", "apiキー", "アクセスキー", "鍵", "認証情報"],
        "Japanese: secret, token, key",
    ),
    heads(Strong, true, true, &["비밀번호", "패스워드", "암호", "비번", "핀번호"], "Korean: password"),
    heads(
        Strong,
        false,
        true,
        &["비밀", "비밀키", "시크릿", "토큰", "api키", "인증키", "개인키"],
        "Korean: secret, token, key",
    ),
    heads(
        Strong,
        true,
        true,
        &["katasandi", "sandi", "katalaluan", "matkhau", "mậtkhẩu", "รหัสผ่าน", "รหัสลับ", "nenosiri"],
        "Indonesian, Malay, Vietnamese, Thai, Swahili: password",
    ),
    heads(
        Strong,
        false,
        true,
        &["rahasia", "kuncirahasia", "bimat", "bímật", "khóabímật"],
        "Indonesian, Vietnamese: secret",
    ),
    heads(
        Strong,
        true,
        true,
        &[
            "كلمةالمرور",
            "كلمهالمرور",
            "كلمةالسر",
            "رمزالمرور",
            "گذرواژه",
            "رمزعبور",
            "پاسورڈ",
            "סיסמה",
            "סיסמא",
            "पासवर्ड",
            "कूटशब्द",
            "পাসওয়ার্ড",
            "கடவுச்சொல்",
        ],
        "Arabic, Persian, Urdu, Hebrew, Hindi, Bengali, Tamil: password",
    ),
    heads(Strong, false, true, &["توکن", "סוד", "गुप्त", "टोकन"], "Persian, Hebrew, Hindi: secret, token"),
    heads(Strong, false, false, &["سر", "سري", "رمز"], "Arabic: secret, code; too short to be found inside words"),
];

/// Ends of words that hold a head and mean something else.
const NOT_HEADS: &[(&str, &str)] = &[
    ("compass", "an instrument"),
    ("bypass", "a way around"),
    ("trespass", "a verb"),
    ("surpass", "a verb"),
    ("underpass", "a road"),
    ("overpass", "a road"),
    ("encompass", "a verb"),
    ("monkey", "an animal"),
    ("hotkey", "a shortcut"),
    ("keypad", "a device"),
    ("cwd", "a folder"),
    ("oldpwd", "the shell's folder"),
    ("nonsecret", "says that it is none"),
    ("nosecret", "says that there is none"),
    ("notsecret", "says that it is none"),
    ("nopassword", "says that there is none"),
    ("passwordless", "says that there is none"),
    ("parole", "Italian and French also: words"),
    ("parolechiave", "Italian: keywords"),
    ("enclave", "a place"),
    ("autoclave", "a device"),
    ("conclave", "a meeting"),
];

/// Words before a head that take its meaning away.
const VETOES: &[(&str, &[&str], &str)] = &[
    (
        "*",
        &[
            "public",
            "pub",
            "publishable",
            "existing",
            "show",
            "hide",
            "toggle",
            "forgot",
            "forget",
            "no",
            "without",
            "invalid",
            "missing",
            "hardcoded",
            "stdin",
            "color",
            "colour",
            "unknown",
            "wrong",
            "incorrect",
            "bad",
            "manage",
            "view",
            "copy",
            "delete",
            "remove",
            "count",
            "expired",
            "checksum",
            "digest",
            "fingerprint",
            "thumbprint",
        ],
        "a public half, a reference to what exists elsewhere, or a switch",
    ),
    (
        "token",
        &[
            "bos",
            "eos",
            "pad",
            "unk",
            "cls",
            "sep",
            "mask",
            "stop",
            "special",
            "image",
            "start",
            "end",
            "page",
            "next",
            "continuation",
            "continue",
            "pagination",
            "cursor",
            "sync",
            "max",
            "min",
            "num",
            "total",
            "per",
            "count",
            "csstoken",
            "design",
            "color",
            "lock",
            "prompt",
            "completion",
            "input",
            "output",
        ],
        "words of a language model, and cursors into a list",
    ),
    (
        "tokens",
        &[
            "bos",
            "eos",
            "stop",
            "special",
            "max",
            "min",
            "num",
            "total",
            "per",
            "prompt",
            "completion",
            "input",
            "output",
            "new",
            "design",
        ],
        "counts and lists of words",
    ),
    (
        "secret",
        &[
            "image",
            "pull",
            "tls",
            "cert",
            "certificate",
            "ca",
            "registry",
            "ssl",
            "from",
            "source",
            "target",
            "destination",
            "projected",
            "file",
            "config",
            "env",
            "credentials",
            "credential",
            "username",
            "password",
            "certs",
            "kubeconfig",
            "serviceaccount",
            "store",
            "kubernetes",
            "k8s",
        ],
        "names of Kubernetes Secrets",
    ),
    (
        "secrets",
        &["image", "pull", "tls", "extra", "external", "sealed", "additional", "managed", "set", "update"],
        "names of Kubernetes Secrets",
    ),
    ("password", &["min", "max", "reset", "change", "weak", "strong", "ui"], "policies and forms"),
    (
        "key",
        &[
            "primary",
            "foreign",
            "cache",
            "sort",
            "partition",
            "hash",
            "range",
            "row",
            "config",
            "group",
            "label",
            "annotation",
            "translation",
            "i18n",
            "message",
            "object",
            "s3",
            "index",
            "natural",
            "unique",
            "composite",
            "map",
            "tag",
            "field",
            "lookup",
            "topology",
            "topic",
            "event",
            "record",
            "json",
            "site",
            "surrogate",
            "aggregate",
            "idempotency",
            "dedup",
            "bucket",
            "shard",
            "routing",
            "column",
        ],
        "keys of tables, maps and caches",
    ),
    (
        "pin",
        &[
            "gpio",
            "led",
            "reset",
            "rx",
            "tx",
            "sda",
            "scl",
            "mosi",
            "miso",
            "cs",
            "data",
            "clock",
            "clk",
            "output",
            "input",
            "trigger",
            "echo",
            "servo",
            "motor",
            "relay",
            "button",
            "interrupt",
            "irq",
            "enable",
            "power",
            "pwm",
            "version",
            "cpu",
            "update",
            "auto",
            "num",
        ],
        "pins of chips, versions held fast",
    ),
    ("salt", &["sea", "road", "table"], "salt"),
    ("auth", &["o"], "`OAuth` is one word"),
];

/// Words after a head that say which one, not what it is: they are passed over.
const NEUTRAL: &[&str] = &[
    "string",
    "str",
    "value",
    "values",
    "val",
    "text",
    "txt",
    "plain",
    "plaintext",
    "cleartext",
    "clear",
    "raw",
    "literal",
    "content",
    "contents",
    "data",
    "b64",
    "base64",
    "encoded",
    "hex",
    "json",
    "pem",
    "current",
    "previous",
    "prev",
    "old",
    "new",
    "next",
    "primary",
    "secondary",
    "backup",
    "main",
    "prod",
    "production",
    "dev",
    "development",
    "develop",
    "test",
    "testing",
    "stage",
    "staging",
    "stg",
    "live",
    "sandbox",
    "qa",
    "uat",
    "ci",
    "eu",
    "us",
    "asia",
    "global",
    "local",
    "default",
    "override",
    "fallback",
    "v",
    "ver",
    "i",
    "ii",
    "a",
    "b",
    "x",
    "base",
    "decrypted",
    "unencrypted",
    "one",
    "two",
    "again",
    "confirm",
    "confirmation",
    "repeat",
    "wert",
    "valor",
    "valeur",
    "temp",
    "tmp",
    "internal",
    "for",
];

/// Names under a secret's own name that hold its value: `password: {value: …}`, `variable.db_password.default`.
const VALUE_NAMES: &[&str] = &[
    "value",
    "values",
    "val",
    "default",
    "defaultvalue",
    "content",
    "contents",
    "data",
    "text",
    "string",
    "stringvalue",
    "plain",
    "plaintext",
    "cleartext",
    "literal",
    "raw",
    "current",
    "previous",
    "old",
    "new",
    "b64",
    "base64",
    "before",
    "after",
    "from",
    "to",
    "securestring",
    "inline",
    "inlinevalue",
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "test",
    "live",
    "primary",
    "secondary",
    "hash",
    "secret",
    "token",
    "password",
    "fallback",
    "override",
];

/// Names that describe a secret: nothing under them is one by its place below `secrets:` or `passwords:`.
const DESCRIBING: &[&str] = &[
    "name",
    "names",
    "file",
    "files",
    "path",
    "paths",
    "external",
    "type",
    "kind",
    "enabled",
    "enable",
    "description",
    "desc",
    "id",
    "ref",
    "reference",
    "version",
    "namespace",
    "mount",
    "mode",
    "uid",
    "gid",
    "target",
    "source",
    "labels",
    "annotations",
    "driver",
    "template",
    "template_driver",
    "environment",
    "required",
    "length",
    "minlength",
    "maxlength",
    "ttl",
    "expiry",
    "expires",
    "expiration",
    "rotation",
    "policy",
    "provider",
    "store",
    "backend",
    "engine",
    "region",
    "arn",
    "url",
    "uri",
    "host",
    "hostname",
    "port",
    "user",
    "username",
    "email",
    "login",
    "create",
    "size",
    "algorithm",
    "alg",
    "format",
    "title",
    "help",
    "label",
    "owner",
    "created",
    "updated",
    "comment",
    "scope",
    "scopes",
    "role",
    "roles",
    "method",
    "header",
    "field",
    "prefix",
    "suffix",
    "usage",
    "sensitive",
    "optional",
    "class",
    "items",
    "issuer",
    "audience",
    "subject",
    "database",
    "db",
    "dbname",
    "schema",
    "database_name",
    "tenant",
    "account",
    "project",
    "client_id",
    "clientid",
    "existingsecret",
    "secretname",
    "secretref",
    "status",
    "state",
    "image",
    "tag",
    "timeout",
    "interval",
    "retries",
    "endpoint",
    "domain",
    "realm",
    "vhost",
    "action",
    "uses",
    "workflow",
    "job",
    "group",
    "env",
    "envvar",
    "property",
    "objectname",
    "objecttype",
    "objectalias",
    "table",
    "column",
    "guard",
    "connection",
    "queue",
    "expire",
    "throttle",
    "broker",
    "remote",
    "remoteref",
    "conversionstrategy",
    "decodingstrategy",
    "metadatapolicy",
    "pattern",
    "regex",
    "example",
    "placeholder",
    "tooltip",
    "hint",
    "nullable",
    "readonly",
    "writeonly",
    "at",
    "in",
    "seconds",
    "sec",
    "ms",
    "minutes",
    "hours",
    "days",
    "count",
    "limit",
    "age",
    "number",
    "index",
    "iterations",
    "rounds",
    "bits",
    "bytes",
    "since",
    "until",
    "date",
    "time",
    "timestamp",
    "lifetime",
    "validity",
    "duration",
    "period",
    "delay",
    "threshold",
    "order",
];

/// Names whose whole content is about keys and not secret itself: references, schemas and texts of a user interface.
const SHIELDING: &[&str] = &[
    "secretkeyref",
    "secretref",
    "configmapkeyref",
    "configmapref",
    "valuefrom",
    "existingsecret",
    "properties",
    "patternproperties",
    "definitions",
    "securityschemes",
    "securitydefinitions",
    "i18n",
    "l10n",
    "labels",
    "translations",
    "translation",
    "locale",
    "locales",
    "placeholders",
    "tooltips",
    "descriptions",
    "fieldref",
    "remoteref",
    "envmapping",
    "headers_to_redact",
    "sensitivefields",
    "ignorefields",
    "scrub",
    "filterparameters",
    "filter_parameters",
    "messages",
    "imagepullsecrets",
    "etiquetas",
    "etichette",
    "libelles",
    "beschriftungen",
    "texte",
    "textos",
    "testi",
    "textes",
    "traducciones",
    "traductions",
    "traduzioni",
    "uebersetzungen",
    "mensajes",
    "mensagens",
    "messaggi",
    "nachrichten",
    "meldungen",
    "dependencies",
    "devdependencies",
    "peerdependencies",
    "optionaldependencies",
    "requires",
    "secretkeys",
    "securityscheme",
    "hints",
    "captions",
    "caption",
    "errors",
    "menu",
    "button",
    "buttons",
    "label",
    "tooltip",
    "errormessages",
    "helptexts",
    "resolutions",
    "annotations",
    "columns",
    "schema",
    "validation",
    "validators",
    "validations",
];

/// A name made comparable: compatibility forms folded (full width is not another letter), characters that nobody sees
/// dropped, letters of other alphabets that look like Latin ones inside a Latin word read as those.
pub(super) fn normal(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return Cow::Borrowed(name);
    }
    let mut folded: String = name.nfkc().filter(|c| !crate::text::is_active(*c)).collect();
    if folded.bytes().any(|b| b.is_ascii_alphabetic()) && folded.chars().any(|c| lookalike(c).is_some()) {
        // Only where what is left is Latin: `ключapi` is two alphabets on purpose.
        let latin: String = folded.chars().map(|c| lookalike(c).unwrap_or(c)).collect();
        if latin.chars().filter(|c| c.is_alphabetic()).all(|c| c.is_ascii()) {
            folded = latin;
        }
    }
    Cow::Owned(folded)
}

/// The Latin letter that a Cyrillic or Greek one is drawn like.
fn lookalike(c: char) -> Option<char> {
    const PAIRS: &[(char, char)] = &[
        ('а', 'a'),
        ('е', 'e'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('у', 'y'),
        ('х', 'x'),
        ('к', 'k'),
        ('і', 'i'),
        ('ѕ', 's'),
        ('ј', 'j'),
        ('ԁ', 'd'),
        ('һ', 'h'),
        ('ո', 'n'),
        ('ԝ', 'w'),
        ('т', 't'),
        ('м', 'm'),
        ('н', 'h'),
        ('в', 'b'),
        ('А', 'A'),
        ('Е', 'E'),
        ('О', 'O'),
        ('Р', 'P'),
        ('С', 'C'),
        ('К', 'K'),
        ('Т', 'T'),
        ('М', 'M'),
        ('Н', 'H'),
        ('В', 'B'),
        ('Х', 'X'),
        ('І', 'I'),
        ('Ѕ', 'S'),
        ('ο', 'o'),
        ('α', 'a'),
        ('ρ', 'p'),
        ('ν', 'v'),
        ('κ', 'k'),
        ('ι', 'i'),
        ('υ', 'u'),
        ('τ', 't'),
        ('Α', 'A'),
        ('Ε', 'E'),
        ('Ο', 'O'),
        ('Ρ', 'P'),
        ('Κ', 'K'),
        ('Τ', 'T'),
        ('Ν', 'N'),
        ('Ι', 'I'),
        ('ı', 'i'),
        ('ɑ', 'a'),
        ('ԛ', 'q'),
        ('ѡ', 'w'),
        ('ց', 'g'),
        ('ʏ', 'y'),
        ('ꜱ', 's'),
        ('ø', 'o'),
        ('ß', 's'),
    ];
    PAIRS.iter().find(|(other, _)| *other == c).map(|(_, latin)| *latin)
}

/// The words of a name, in lower case: cut at everything that is no letter or digit, between `a` and `B`, before the last
/// capital of `DBPassword`, and around digits.
pub(super) fn split(name: &str) -> Vec<String> {
    // What a redaction says is no word of the name.
    let without = name.contains("[REDACTED").then(|| without_redactions(name));
    let name = without.as_deref().unwrap_or(name);
    let name = normal(name);
    if name.is_ascii() {
        return split_ascii(&name.as_bytes()[name.len().saturating_sub(MAX_NAME)..]);
    }
    let mut chars: Vec<char> = name.chars().collect();
    chars.drain(..chars.len().saturating_sub(MAX_NAME));
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut finish = |word: &mut String| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    for (at, &c) in chars.iter().enumerate() {
        if !c.is_alphanumeric() && !is_mark(c) {
            // A possessive or a mark inside a word is none of its ends; everything else is.
            finish(&mut word);
            continue;
        }
        let before = at.checked_sub(1).map(|at| chars[at]);
        let after = chars.get(at + 1);
        if let Some(before) = before {
            let camel = before.is_lowercase() && c.is_uppercase();
            let acronym = before.is_uppercase() && c.is_uppercase() && after.is_some_and(|a| a.is_lowercase());
            let digit = before.is_ascii_digit() != c.is_ascii_digit() && before.is_alphanumeric();
            if camel || acronym || digit {
                finish(&mut word);
            }
        }
        word.extend(c.to_lowercase().filter(|c| c.is_alphanumeric() || is_mark(*c)).map(unaccented));
    }
    finish(&mut word);
    words
}

/// As the rest of [`split`] does, which most names need not.
fn split_ascii(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(4);
    let mut open = false;
    for (at, &c) in name.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            open = false;
            continue;
        }
        let cut = at.checked_sub(1).map(|at| name[at]).is_some_and(|before| {
            let camel = before.is_ascii_lowercase() && c.is_ascii_uppercase();
            let acronym = before.is_ascii_uppercase()
                && c.is_ascii_uppercase()
                && name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let digit = before.is_ascii_digit() != c.is_ascii_digit() && before.is_ascii_alphanumeric();
            camel || acronym || digit
        });
        if !open || cut {
            words.push(String::with_capacity(12));
        }
        open = true;
        if let Some(word) = words.last_mut() {
            word.push(char::from(c.to_ascii_lowercase()));
        }
    }
    words
}

fn without_redactions(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find("[REDACTED") {
        out.push_str(&rest[..at]);
        out.push(' ');
        rest = rest[at..].split_once(']').map_or("", |(_, rest)| rest);
    }
    out + rest
}

/// A Latin letter without its accent: `contraseña` and `contrasena` are one word to who types keys.
fn unaccented(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    match c {
        'ı' => 'i',
        'ł' => 'l',
        'ø' => 'o',
        'đ' | 'ð' => 'd',
        _ => {
            let mut first = c;
            let mut seen = false;
            unicode_normalization::char::decompose_canonical(c, |part| {
                if !seen {
                    first = part;
                    seen = true;
                }
            });
            if first.is_ascii_alphabetic() { first } else { c }
        }
    }
}

/// Vowel signs and accents, which belong to the letter before them.
fn is_mark(c: char) -> bool {
    use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory as _};
    // The dot that lower-casing puts on a Turkish `İ` is no part of its word.
    !c.is_ascii() && c != '\u{307}' && c.general_category_group() == GeneralCategoryGroup::Mark
}

/// Names are looked at up to this many characters from their end; nobody names a key longer.
const MAX_NAME: usize = 256;

thread_local! {
    static NAMED: Memory<Option<Named>> = Memory::default();
    static SHIELDS: Memory<bool> = Memory::default();
}

/// What a key's name says; `None` when it names nothing secret.
pub(super) fn named(name: &str) -> Option<Named> {
    recall(&NAMED, name, || named_afresh(name))
}

fn named_afresh(name: &str) -> Option<Named> {
    if name.len() > 4 * MAX_NAME {
        // A longer name is text, not a name; its end is what a head stands at.
        let start = super::formats::floor(name, name.len() - 2 * MAX_NAME);
        return named_words(&split(&name[start..]));
    }
    if is_bundler(name) {
        return Some(BUNDLER);
    }
    if let Some(named) = digits_for_letters(name) {
        return Some(named);
    }
    named_words(&split(name))
}

/// `passw0rd`, `t0ken`: digits that are drawn like the letters of the few words that everybody knows.
fn digits_for_letters(name: &str) -> Option<Named> {
    let bytes = name.as_bytes();
    let mixed =
        bytes.windows(2).any(|w| w[0].is_ascii_alphabetic() && matches!(w[1], b'0' | b'3' | b'4' | b'5' | b'@' | b'$'));
    if !mixed || bytes.len() > 40 {
        return None;
    }
    let last = name.rsplit(['_', '-', '.', '/']).next().unwrap_or(name);
    let letters: String = last
        .chars()
        .map(|c| match c {
            '0' => 'o',
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            c => c.to_ascii_lowercase(),
        })
        .collect();
    let word = ["password", "passwd", "secret", "token", "passphrase"].iter().find(|word| letters.ends_with(**word))?;
    (!last.to_ascii_lowercase().ends_with(*word)).then(|| Named {
        strength: Strength::Strong,
        word,
        numbers: word.starts_with("pass"),
        many: false,
    })
}

fn named_words(words: &[String]) -> Option<Named> {
    // The words one after the other: a run of them is a part of it.
    let joined = words.concat();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if matches!(words.as_slice(), ["clear", "text"] | ["cleartext"]) {
        // Only a secret has to say that it is not encrypted.
        return Some(Named { strength: Strength::Medium, word: "cleartext", numbers: false, many: false });
    }
    if words.len() > 1 && matches!(words[0], "checksum" | "digest" | "sha") {
        // `checksum/secret`: what is known of a secret's content.
        return None;
    }
    let (mut first, mut end) = (words.as_slice(), joined.len());
    // Trailing numbers and words that say which one. The last word left stays, whatever it is.
    loop {
        if let Some(named) = head(first, &joined[..end]) {
            return Some(named);
        }
        match first.split_last() {
            Some((last, before))
                if !before.is_empty() && (is_neutral(last) || last.bytes().all(|b| b.is_ascii_digit())) =>
            {
                first = before;
                end -= last.len();
            }
            _ => break,
        }
    }
    head_first(&words, &joined)
}

fn is_neutral(word: &str) -> bool {
    static INDEX: OnceLock<HashSet<&str>> = OnceLock::new();
    INDEX.get_or_init(|| NEUTRAL.iter().copied().collect()).contains(word)
}

fn is_key(word: &str) -> bool {
    static INDEX: OnceLock<HashSet<&str>> = OnceLock::new();
    INDEX.get_or_init(|| KEYS.iter().copied().collect()).contains(word)
}

/// Many languages put the noun first: `contrasena_db`, `senha_banco`, `kennwort_admin`. English does so before the name of what is
/// opened only. `joined` is the words, one after the other.
fn head_first(words: &[&str], joined: &str) -> Option<Named> {
    if words.len() > 1 && words.iter().any(|word| is_key(word)) && words.iter().any(|word| KINDS_OF_KEY.contains(word))
    {
        return Some(Named { strength: Strength::Strong, word: "key", numbers: false, many: false });
    }
    let mut end = 0;
    for count in 1..words.len().min(5) {
        end += words[count - 1].len();
        let rest = &words[count..];
        let Some((heads, word)) = lookup(&joined[..end], false).filter(|(heads, _)| heads.strength == Strength::Strong)
        else {
            continue;
        };
        let foreign = heads.why.contains(": ");
        let last = *rest.last()?;
        let plain = !DESCRIBING.contains(&last) && !DESCRIBING.contains(&rest.concat().as_str());
        let opened = rest.len() == 1 && OPENED.contains(&last);
        if foreign && plain && !FOREIGN_DESCRIBING.contains(&last) || opened {
            return Some(heads.named(word, false));
        }
    }
    None
}

/// `key` in other languages, without accents; a secret only with a word of [`KINDS_OF_KEY`] beside it, in any order.
const KEYS: &[&str] = &[
    "cle",
    "clef",
    "clave",
    "llave",
    "chave",
    "chiave",
    "clau",
    "schluessel",
    "schlussel",
    "sleutel",
    "nyckel",
    "nokkel",
    "nogle",
    "lykill",
    "avain",
    "voti",
    "klucz",
    "klic",
    "kluc",
    "kljuc",
    "kulcs",
    "cheie",
    "anahtar",
    "anahtari",
    "raktas",
    "atslega",
    "ключ",
    "кључ",
    "ключа",
    "κλειδι",
    "κλειδί",
    "kunci",
    "khoa",
    "مفتاح",
    "کلید",
    "מפתח",
    "कुंजी",
    "鍵",
    "キー",
    "키",
    "열쇠",
    "密钥",
    "钥匙",
];

/// What makes of a foreign `key` one that opens something.
const KINDS_OF_KEY: &[&str] = &[
    "api",
    "ssh",
    "secret",
    "secrete",
    "secreta",
    "secreto",
    "segreta",
    "segreto",
    "privee",
    "prive",
    "privada",
    "privado",
    "privata",
    "privat",
    "privater",
    "privates",
    "private",
    "geheim",
    "geheimer",
    "geheime",
    "hemlig",
    "hemmelig",
    "salainen",
    "tajny",
    "tajne",
    "tajni",
    "soukromy",
    "prywatny",
    "titkos",
    "secreta",
    "gizli",
    "ozel",
    "slaptas",
    "секретный",
    "секретен",
    "закрытый",
    "приватный",
    "приватен",
    "доступа",
    "секретний",
    "приватний",
    "тајни",
    "rahasia",
    "bi",
    "mat",
    "maestra",
    "mestra",
    "maitre",
    "haupt",
    "cifrado",
    "chiffrement",
    "encriptacion",
    "verschluesselung",
];

/// What a secret opens, where it stands after the head: `password_db`, `token_github`.
const OPENED: &[&str] = &[
    "db",
    "database",
    "admin",
    "root",
    "mysql",
    "postgres",
    "postgresql",
    "pg",
    "mariadb",
    "redis",
    "mongo",
    "mongodb",
    "smtp",
    "ldap",
    "ftp",
    "sftp",
    "ssh",
    "vpn",
    "wifi",
    "wlan",
    "github",
    "gitlab",
    "bitbucket",
    "aws",
    "azure",
    "gcp",
    "slack",
    "stripe",
    "openai",
    "anthropic",
    "twilio",
    "sendgrid",
    "telegram",
    "discord",
    "rabbitmq",
    "kafka",
    "elastic",
    "elasticsearch",
    "grafana",
    "jenkins",
    "sudo",
    "oracle",
    "mssql",
    "sa",
    "npm",
    "pypi",
    "docker",
    "sentry",
    "datadog",
    "jira",
    "mqtt",
    "imap",
    "pop3",
    "api",
    "bot",
];

/// Words that say of a foreign head what `length` and `policy` say of an English one.
const FOREIGN_DESCRIBING: &[&str] = &[
    "longitud",
    "longueur",
    "lange",
    "laenge",
    "lunghezza",
    "comprimento",
    "lengte",
    "lungime",
    "minima",
    "minimo",
    "maxima",
    "maximo",
    "expira",
    "expiracion",
    "expiration",
    "caducidad",
    "validade",
    "gultig",
    "gueltig",
    "ablauf",
    "richtlinie",
    "politica",
    "politique",
    "politik",
    "regel",
    "regla",
    "datei",
    "archivo",
    "fichier",
    "arquivo",
    "pfad",
    "ruta",
    "chemin",
    "caminho",
    "percorso",
    "nombre",
    "nom",
    "nome",
    "naam",
    "anzeigen",
    "mostrar",
    "vergessen",
    "olvidada",
    "oublie",
    "primaria",
    "primario",
    "primaire",
    "primaer",
    "primar",
    "foranea",
    "ajena",
    "estrangeira",
    "etrangere",
    "esterna",
    "externa",
    "fremd",
    "unica",
    "unique",
    "compuesta",
    "composta",
    "sha",
    "chiave",
    "chiavi",
    "clave",
    "claves",
    "cle",
    "cles",
    "chave",
    "dimenticata",
    "длина",
    "срок",
    "файл",
    "путь",
    "имя",
    "политика",
    "长度",
    "路径",
    "文件",
    "名称",
    "有效期",
    "長さ",
    "期限",
    "길이",
    "uzunlugu",
    "suresi",
    "dosyasi",
    "dlugosc",
    "delka",
    "platnost",
    "title",
    "text",
    "msg",
    "hash",
];

/// The longest head that the words end in; `joined` is the words, one after the other.
fn head(words: &[&str], joined: &str) -> Option<Named> {
    let last = *words.last()?;
    let mut best: Option<(usize, Named)> = None;
    let mut start = joined.len();
    for word in words.iter().rev().take(4) {
        start -= word.len();
        let tail = &joined[start..];
        for (single, many) in singulars(tail) {
            if let Some((heads, word)) = lookup(single, false) {
                let named = heads.named(word, many);
                let length = tail.chars().count();
                if best.as_ref().is_none_or(|(known, _)| length >= *known) {
                    best = Some((length, named));
                }
            }
        }
    }
    if best.as_ref().is_none_or(|(_, named)| named.strength < Strength::Strong)
        && !NOT_HEADS.iter().any(|(word, _)| last.ends_with(word))
    {
        for (single, many) in singulars(last) {
            if let Some((heads, word)) = lookup(single, true) {
                let length = word.chars().count();
                if best.as_ref().is_none_or(|(known, _)| length >= *known) {
                    best = Some((length, heads.named(word, many)));
                }
            }
        }
    }
    let (_, mut named) = best?;
    if NOT_HEADS.iter().any(|(word, _)| last == *word && words.len() == 1 && *word != "parole") {
        return None;
    }
    // Words before the head: how many words it covers is found again by length.
    let mut covered = 0;
    let mut count = 0;
    for word in words.iter().rev() {
        if covered >= named.word.chars().count() {
            break;
        }
        covered += word.chars().count();
        count += 1;
    }
    let before = &words[..words.len() - count.min(words.len())];
    let stem = if named.word.ends_with("key") { "key" } else { named.word };
    for (target, vetoes, _) in VETOES {
        let applies = *target == "*" || *target == stem || (named.many && *target == last);
        if applies && before.last().is_some_and(|word| vetoes.contains(word)) {
            if stem == "key" && before.last().is_some_and(|word| *word == "site") {
                // The half of a captcha that every visitor sees.
                return None;
            }
            if matches!(*target, "key" | "secret" | "secrets") {
                // `hash_key: id` is a table's; `hash_key: $uperS3cret` looks like what opens something.
                return Some(Named { strength: Strength::Weak, ..named });
            }
            // `existingSecret`, `publicKey`: nothing. A random value is still seen by the other evidence.
            return None;
        }
        if applies && *target == "*" && before.iter().any(|word| matches!(*word, "public" | "pub" | "publishable")) {
            return None;
        }
    }
    // `adminPasswordKey`, `secretKeyKey`: the key under which a secret is found, in most charts.
    if stem == "key" && named.strength == Strength::Strong {
        let nouns = ["password", "token", "passwd", "secretkey"];
        if before.last().is_some_and(|word| nouns.contains(word)) || matches!(named.word, "tokenkey") {
            named.strength = Strength::Weak;
        }
        if named.word == "secretkey"
            && before.last().is_some_and(|word| {
                matches!(*word, "existing" | "existingsecret" | "user" | "username" | "admin" | "root")
            })
        {
            named.strength = Strength::Weak;
        }
    }
    Some(named)
}

fn singulars(word: &str) -> impl Iterator<Item = (&str, bool)> {
    let plural = word.strip_suffix('s').filter(|single| single.len() > 2 && !single.ends_with('s'));
    std::iter::once((
        word,
        matches!(
            word,
            "secrets"
                | "credentials"
                | "creds"
                | "chpasswd"
                | "basicauthusers"
                | "secretvars"
                | "secretvalues"
                | "authusers"
                | "githuboauth"
                | "gitlaboauth"
                | "bitbucketoauth"
                | "zugangsdaten"
                | "identifiants"
        ),
    ))
    .chain(plural.map(|single| (single, true)))
}

/// The line of a head: the whole word, or (for lines that allow it) its longest end that is one.
fn lookup(word: &str, suffix: bool) -> Option<(&'static Heads, &'static str)> {
    static INDEX: OnceLock<HashMap<String, (&'static Heads, &'static str)>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let lines = HEADS.iter().rev();
        lines
            .flat_map(|heads| {
                heads.words.iter().map(move |word| (word.chars().map(unaccented).collect(), (heads, *word)))
            })
            .collect()
    });
    if !suffix {
        return index.get(word).copied();
    }
    // Most words end as no head does.
    static ENDS: OnceLock<(HashSet<[u8; 2]>, usize)> = OnceLock::new();
    let (last_bytes, longest) = ENDS.get_or_init(|| {
        let heads = || index.iter().filter(|(_, (heads, _))| heads.suffix).map(|(word, _)| word.as_bytes());
        (heads().filter_map(|word| word.last_chunk().copied()).collect(), heads().map(<[u8]>::len).max().unwrap_or(0))
    });
    if !word.as_bytes().last_chunk().is_some_and(|last: &[u8; 2]| last_bytes.contains(last)) {
        return None;
    }
    let mut ends = word.char_indices().map(|(at, _)| &word[at..]).filter(|end| end.len() <= *longest);
    ends.find_map(|end| index.get(end).filter(|(heads, _)| heads.suffix).copied())
}

/// Whether a name says what is opened: `password: {postgres: …}`.
pub(super) fn is_opened(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    OPENED.contains(&lower.as_str())
        || !lower.is_empty() && lower.len() < 3 && lower.bytes().all(|b| b.is_ascii_digit())
}

/// `BUNDLE_RUBYGEMS__PKG__GITHUB__COM`: a host whose user and password are the value.
fn is_bundler(name: &str) -> bool {
    name.strip_prefix("BUNDLE_").is_some_and(|host| {
        host.contains("__") && ["__COM", "__ORG", "__IO", "__NET", "__DEV"].iter().any(|end| host.ends_with(end))
    })
}

const BUNDLER: Named = Named { strength: Strength::Strong, word: "bundle", numbers: false, many: false };

/// Names of keys that name a field as often as they hold a secret: `session_key: user_id`, `user_key: email`.
const FIELD_KEYS: &[&str] = &[
    "sessionkey",
    "userkey",
    "devicekey",
    "clientkey",
    "serverkey",
    "datakey",
    "readkey",
    "searchkey",
    "querykey",
    "nodekey",
    "agentkey",
    "peerkey",
    "modelkey",
    "servicekey",
    "zonekey",
    "internalkey",
    "teamkey",
    "hostkey",
    "cookiekey",
    "callbackkey",
    "hookkey",
    "relaykey",
    "clusterkey",
    "emailkey",
    "databasekey",
    "dbkey",
    "tokenkey",
    "workspacekey",
    "partnerkey",
    "merchantkey",
    "productkey",
    "serialkey",
    "accountkey",
    "pushkey",
    "smskey",
    "noncekey",
    "subscriberkey",
    "publisherkey",
    "storagekey",
    "sharedkey",
    "localkey",
    "envkey",
    "blockkey",
    "writekey",
    "appkey",
    "applicationkey",
    "joinkey",
    "botkey",
    "functionkey",
    "signaturekey",
    "securitykey",
];

/// Whether a key of this word may hold a field's name instead of a secret.
pub(super) fn names_a_field(named: &Named) -> bool {
    FIELD_KEYS.contains(&named.word) || named.word == "sessionkeys"
}

/// Whether a name says under which key of a Secret something is found: `userPasswordKey`, `existingSecretPasswordKey`.
pub(super) fn selects_a_key(name: &str) -> bool {
    let words = split(name);
    let [.., noun, last] = words.as_slice() else { return false };
    matches!(last.as_str(), "key" | "keys")
        && matches!(noun.as_str(), "password" | "passwd" | "token" | "secret" | "credentials" | "pass" | "username")
}

/// Whether a name is the code of a language, as the root of a file of texts has: `en`, `pt-BR`.
pub(super) fn is_language(name: &str) -> bool {
    let (code, region) = name.split_once(['-', '_']).unwrap_or((name, "US"));
    const CODES: &[&str] = &[
        "en", "de", "es", "fr", "it", "pt", "nl", "sv", "da", "nb", "nn", "fi", "pl", "cs", "sk", "sl", "hr", "sr",
        "bg", "ro", "hu", "el", "tr", "ru", "uk", "ar", "he", "fa", "hi", "bn", "ta", "th", "vi", "ja", "ko", "zh",
        "ca", "gl", "eu", "et", "lv", "lt", "ga", "ms",
    ];
    CODES.contains(&code) && (2..=4).contains(&region.len()) && region.bytes().all(|b| b.is_ascii_alphabetic())
}

/// Whether a name under a secret's own name holds its value.
pub(super) fn holds_value(name: &str) -> bool {
    let words = split(name);
    let glued = words.concat();
    VALUE_NAMES.contains(&glued.as_str())
}

/// Whether a name describes a secret rather than holding one.
pub(super) fn describes(name: &str) -> bool {
    let words = split(name);
    let glued = words.concat();
    DESCRIBING.contains(&glued.as_str()) || words.last().is_some_and(|last| DESCRIBING.contains(&last.as_str()))
}

/// Whether key words below this name describe something instead of naming secrets.
pub(super) fn shields(name: &str) -> bool {
    recall(&SHIELDS, name, || {
        static INDEX: OnceLock<HashSet<&str>> = OnceLock::new();
        let index = INDEX.get_or_init(|| SHIELDING.iter().copied().collect());
        let glued = split(name).concat();
        index.contains(glued.as_str())
            || glued.ends_with("secretref")
            || glued.ends_with("keyref")
            || glued.ends_with("secretrefs")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(name: &str) -> Option<Strength> {
        named(name).map(|named| named.strength)
    }

    #[test]
    fn every_head_that_counts_at_an_end_is_found_there() {
        for heads in HEADS.iter().filter(|heads| heads.suffix) {
            for word in heads.words {
                let plain: String = word.chars().map(unaccented).collect();
                assert!(plain.len() >= 2, "{word}");
                let (found, _) = lookup(&format!("zq{plain}"), true).unwrap_or_else(|| panic!("{word}"));
                assert!(found.suffix, "{word}");
            }
        }
        assert!(lookup("limit", true).is_none() && lookup("x", true).is_none() && lookup("", true).is_none());
    }

    #[test]
    fn names_are_cut_into_words() {
        for (name, words) in [
            ("DB_PASSWORD", "db password"),
            ("dbPassword", "db password"),
            ("DBPassword", "db password"),
            ("oauth2-token", "oauth 2 token"),
            ("APIKeyV2", "api key v 2"),
            ("pass\u{200b}word", "password"),
            ("ｐａｓｓｗｏｒｄ", "password"),
            ("pаsswоrd", "password"),
            ("x.y/z w", "x y z w"),
        ] {
            assert_eq!(split(name).join(" "), words, "{name}");
        }
    }

    #[test]
    fn heads_decide_and_substrings_do_not() {
        for name in [
            "password",
            "DB_PASSWORD",
            "PGPASSWORD",
            "dbpassword2",
            "api_key",
            "ApiKey",
            "APIKEY",
            "x-api-key",
            "requirepass",
            "bindpw",
            "DBPASS",
            "SECRET_KEY_BASE",
            "STRIPE_SECRET_KEY_LIVE",
            "jwtSecret",
            "authTokens",
            "senha",
            "пароль",
            "数据库密码",
            "Datenbankpasswort",
            "kata_sandi",
            "mot_de_passe",
            "PassWord",
            "aws_secret_access_key",
            "psk",
            "PIN",
            "tls.key",
            "storageAccountKey",
            "client-key-data",
            "ClientSecret",
            "privateKeyPassphrase",
            "password_hash",
            "\u{2060}to\u{ad}ken",
            "şifre",
            "DB_ŞİFRE",
            "رمز_عبور",
            "lösenord",
            "CF_API_KEY",
            "passphrase",
            "secret_access_key",
        ] {
            assert!(strength(name) == Some(Strong), "{name}: {:?}", named(name));
        }
        for name in [
            "compass",
            "passthrough",
            "monkey",
            "token_ttl",
            "passwordPolicy",
            "secretName",
            "keyboard",
            "author",
            "authority",
            "password_min_length",
            "publicKey",
            "existingSecret",
            "imagePullSecrets",
            "max_tokens",
            "eos_token",
            "tokenizer",
            "secretary",
            "spin",
            "opinion",
            "pinned",
            "bypass",
            "oauth",
            "hotkey",
            "passed",
            "cwd",
            "tokenUrl",
            "secret_arn",
            "accessKeyId",
            "password_reset_url",
            "primary_key",
            "cache_key",
            "page_token",
            "密码长度",
            "keyspace",
            "passwordless",
        ] {
            assert!(strength(name).is_none_or(|s| s == Weak), "{name}: {:?}", named(name));
        }
        assert_eq!(strength("adminPasswordKey"), Some(Weak));
        assert_eq!(strength("pass"), Some(Medium));
        assert_eq!(strength("key"), Some(Weak));
    }
}
