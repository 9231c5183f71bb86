//! Labelled cases, made anew for every seed: secrets and ordinary values in the habits of many tools and languages. No token is
//! written here; they are put together when the test runs.

use serde_json::{Value, json};

/// A value at a path, and what must become of it.
pub(crate) struct Case {
    /// What it stands for.
    pub(crate) kind: &'static str,
    /// The record's path.
    pub(crate) path: String,
    /// Its document, where it has one.
    pub(crate) document: Option<&'static str>,
    /// The value.
    pub(crate) value: Value,
    /// What must not survive; `None` for an ordinary value, which must stay as it is.
    pub(crate) secret: Option<String>,
}

/// xorshift: the same cases for the same seed, everywhere.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    pub(crate) fn of<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }

    pub(crate) fn chars(&mut self, set: &str, n: usize) -> String {
        let set = set.as_bytes();
        (0..n).map(|_| char::from(set[self.below(set.len())])).collect()
    }

    pub(crate) fn alnum(&mut self, n: usize) -> String {
        let mut text = self.chars("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", n);
        // Of every kind at least one, or a short one is a word.
        if n > 8 {
            text.replace_range(3..6, "k7Q");
        }
        text
    }

    pub(crate) fn hex(&mut self, n: usize) -> String {
        let mut text = self.chars("0123456789abcdef", n);
        text.replace_range(0..2, "a4");
        text
    }

    pub(crate) fn digits(&mut self, n: usize) -> String {
        let mut text = self.chars("0123456789", n);
        text.replace_range(0..1, "7");
        text
    }

    /// A password as people choose them.
    pub(crate) fn password(&mut self) -> String {
        let words =
            ["Sommer", "tiger", "Fluffy", "penguin", "Galaxy", "wodka", "rosebud", "Kaffee", "banane", "Liverpool"];
        let word = self.of(&words);
        match self.below(6) {
            0 => format!("{word}{}", self.digits(4)),
            1 => format!("{word}{}!", self.digits(2)),
            2 => format!("{}-{}-{}", self.of(&words), self.of(&words), self.digits(2)),
            3 => self.alnum(16),
            4 => word.to_lowercase(),
            _ => format!("{}{}", self.alnum(9), self.of(&["#", "?", "%", "_"])),
        }
    }
}

fn b64(text: &str) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(text)
}

const PLACES: &[&str] =
    &["settings.extra", "services.web.note", "jobs[2].run", "spec.options.x1", "data.line", "app.misc[0]", "conf.q7"];

/// All cases of one seed.
pub(crate) fn cases(seed: u64) -> Vec<Case> {
    let mut dice = Dice(seed | 1);
    let mut out = Vec::new();
    providers(&mut dice, &mut out);
    keys(&mut dice, &mut out);
    containers(&mut dice, &mut out);
    structures(&mut dice, &mut out);
    ordinary(&mut dice, &mut out);
    out
}

fn providers(d: &mut Dice, out: &mut Vec<Case>) {
    let uuid = |d: &mut Dice| format!("{}-{}-{}-{}-{}", d.hex(8), d.hex(4), d.hex(4), d.hex(4), d.hex(12));
    let tokens: Vec<(&'static str, String)> = vec![
        ("bitbucket", format!("ATBB{}", d.alnum(32))),
        ("atlassian", format!("ATATT3{}={}", d.alnum(150), d.hex(8).to_uppercase())),
        ("trello", format!("ATTA{}", d.hex(64))),
        ("doppler", format!("dp.pt.{}", d.alnum(43))),
        ("planetscale", format!("pscale_tkn_{}", d.alnum(43))),
        ("supabase", format!("sbp_{}", d.hex(40))),
        ("groq", format!("gsk_{}", d.alnum(52))),
        ("replicate", format!("r8_{}", d.alnum(37))),
        ("xai", format!("xai-{}", d.alnum(80))),
        ("pinecone", format!("pcsk_{}_{}", d.alnum(5), d.alnum(60))),
        ("nvidia", format!("nvapi-{}", d.alnum(64))),
        ("buildkite", format!("bkua_{}", d.hex(40))),
        ("sonar", format!("squ_{}", d.hex(40))),
        ("circleci", format!("CCIPAT_{}_{}", d.alnum(22), d.hex(40))),
        ("dynatrace", format!("dt0c01.{}.{}", d.alnum(24).to_uppercase(), d.alnum(64).to_uppercase())),
        ("notion", format!("ntn_{}", d.alnum(46))),
        ("figma", format!("figd_{}", d.alnum(40))),
        ("asana", format!("2/12{}/{}:{}", d.digits(14), d.digits(16), d.hex(32))),
        ("clickup", format!("pk_{}_{}", d.digits(8), d.alnum(32).to_uppercase())),
        ("hubspot", format!("pat-eu1-{}", uuid(d))),
        ("square", format!("sq0csp-{}", d.alnum(43))),
        ("razorpay", format!("rzp_live_{}", d.alnum(14))),
        ("plaid", format!("access-production-{}", uuid(d))),
        ("shippo", format!("shippo_live_{}", d.hex(40))),
        ("easypost", format!("EZAK{}", d.alnum(54))),
        ("alibaba", format!("LTAI{}", d.alnum(20))),
        ("tencent", format!("AKID{}", d.alnum(32))),
        ("yandex", format!("AQVN{}", d.alnum(36))),
        ("tailscale", format!("tskey-auth-{}-{}", d.alnum(12), d.alnum(33))),
        ("sourcegraph", format!("sgp_{}_{}", d.hex(16), d.hex(40))),
        ("pulumi", format!("pul-{}", d.hex(40))),
        ("rubygems", format!("rubygems_{}", d.hex(48))),
        ("artifactory", format!("AKCp{}", d.alnum(69))),
        ("nuget", format!("oy2{}", d.alnum(43).to_lowercase())),
        ("brevo", format!("xkeysib-{}-{}", d.hex(64), d.alnum(16))),
        ("resend", format!("re_{}_{}", d.alnum(8), d.alnum(24))),
        ("mailchimp", format!("{}-us{}", d.hex(32), d.below(20) + 1)),
        ("slack-app", format!("xapp-1-A{}-{}-{}", d.alnum(10).to_uppercase(), d.digits(13), d.hex(64))),
        ("google-oauth-token", format!("ya29.{}", d.alnum(120))),
        ("azure-ad", format!("{}8Q~{}", d.alnum(3), d.alnum(34))),
        ("azure-storage", format!("{}+ASt{}==", d.alnum(76), d.alnum(6))),
        ("databricks", format!("dapi{}-2", d.hex(32))),
        ("launchdarkly", format!("sdk-{}", uuid(d))),
        ("honeycomb", format!("hcaik_{}", d.alnum(58).to_lowercase())),
        ("contentful", format!("CFPAT-{}", d.alnum(43))),
        ("zoho", format!("1000.{}.{}", d.hex(32), d.hex(32))),
        ("flutterwave", format!("FLWSECK_TEST-{}-X", d.hex(32))),
        ("openshift", format!("sha256~{}", d.alnum(43))),
        ("swarm", format!("SWMTKN-1-{}-{}", d.alnum(50).to_lowercase(), d.alnum(25).to_lowercase())),
        ("riot", format!("RGAPI-{}", uuid(d))),
        ("argon2", format!("$argon2id$v=19$m=65536,t=3,p=4${}${}", d.alnum(22), d.alnum(43))),
        ("sha512-crypt", format!("$6$rounds=5000${}${}", d.alnum(16), d.alnum(86))),
        ("ssha", format!("{{SSHA}}{}", b64(&d.alnum(24)))),
        ("django", format!("pbkdf2_sha256$600000${}${}=", d.alnum(22), d.alnum(43))),
        ("jwt", {
            let head = b64("{\"alg\":\"RS256\",\"kid\":\"1\"}").replace('=', "");
            let body = b64(&format!("{{\"sub\":\"{}\"}}", d.digits(9))).replace('=', "");
            format!("{head}.{body}.{}", d.alnum(86))
        }),
        ("bip32", format!("xprv{}", d.chars("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 107))),
    ];
    for (kind, token) in tokens {
        let place = d.of(PLACES).to_string();
        let (path, value) = match d.below(9) {
            0 => (place, json!(token)),
            1 => (place, json!(format!("rotated to {token}."))),
            2 => (place, json!(format!("run --with {token} --verbose"))),
            3 => (place, json!(format!("first\nX_VALUE: {token}\nlast"))),
            4 => (place, json!(format!("<setting>{token}</setting>"))),
            5 => (place, json!(format!("{{\\\"k\\\":\\\"{token}\\\"}}"))),
            6 => (place, json!({"deep": {"list": ["a", token]}})),
            7 => (place, json!({token.clone(): {"rate": 3}})),
            _ => (format!("clients['{token}'].scope"), json!("read")),
        };
        // The scheme of a hash may be shown; its salt and digest not.
        let secret = token.rsplit('$').next().unwrap_or(&token).trim_start_matches("{SSHA}").to_string();
        out.push(Case { kind, path, document: None, value, secret: Some(secret) });
    }
}

fn keys(d: &mut Dice, out: &mut Vec<Case>) {
    let names = [
        "spring.datasource.password",
        "hibernate.connection.password",
        "javax.net.ssl.trustStorePassword",
        "sasl.jaas.password",
        "jdbc.pwd",
        "DATABASES.default.PASSWORD",
        "DJANGO_SECRET_KEY",
        "APP_KEY2_SECRET",
        "SECRET_KEY_BASE",
        "devise_secret_key",
        "RAILS_MASTER_KEY",
        "wp_auth_key",
        "NONCE_SECRET",
        "ERLANG_COOKIE_SECRET",
        "guardianSecretKey",
        "phoenix.live_view.signing_secret",
        "ConnectionPassword",
        "JwtBearer.SigningKey",
        "Jwt.Key.Secret",
        "AzureAd.ClientSecret",
        "AccountKey",
        "masterPassword",
        "rootPassword",
        "adminPwd",
        "user_pwd",
        "bind_password",
        "ldap_bindpw",
        "smtp_auth_password",
        "auth_pass",
        "requirepass",
        "masterauth",
        "sentinel_auth_pass",
        "replication_password",
        "snmp_community_secret",
        "wpa_passphrase",
        "pre_shared_key",
        "preSharedKey",
        "ipsec_psk",
        "hmac_secret",
        "webhookSecret",
        "hook_secret_token",
        "GITLAB_RUNNER_REGISTRATION_TOKEN",
        "bot_token",
        "accessToken",
        "refresh-token",
        "id_token_secret",
        "bearerToken",
        "API_TOKEN_PROD",
        "apikey",
        "X-API-Key",
        "apiSecretKey",
        "consumerSecret",
        "encryptionKey",
        "cookie_secret",
        "session_secret_v2",
        "csrf_secret",
        "vaultToken",
        "unsealKey",
        "ansible_become_pass",
        "ansible_ssh_pass",
        "keystorePassword",
        "key_password",
        "storePassword",
        "signingKeyPassphrase",
        "licenseKey",
        "activation_key",
        "mqtt_password",
        "otp_secret",
        "totpSecret",
        "recovery_code",
        "pairing_code",
        "dockerPassword",
        "registry_token",
        "NPM_AUTH_TOKEN",
        "sshPrivateKeyPassphrase",
        "serviceAccountKey",
        // Other languages
        "contraseña",
        "contrasena_db",
        "claveSecreta",
        "senha_banco",
        "mot_de_passe",
        "motDePasse",
        "mdp_admin",
        "cle_api",
        "Passwort",
        "kennwort_db",
        "datenbankPasswort",
        "api_schluessel_geheim",
        "wachtwoord",
        "lösenord",
        "passord",
        "adgangskode",
        "salasana",
        "hasło",
        "haslo_admin",
        "heslo",
        "jelszó",
        "parola_db",
        "sifre",
        "Şifre",
        "пароль",
        "пароль_бд",
        "секрет",
        "密码",
        "数据库密码",
        "db_密码",
        "密钥",
        "パスワード",
        "DBパスワード",
        "비밀번호",
        "암호",
        "mật_khẩu",
        "katasandi",
        "รหัสผ่าน",
        "سیسمه_رمز_عبور",
        "κωδικός",
        "ｐａｓｓｗｏｒｄ",
        "pass\u{200b}word",
        "se\u{ad}cret",
        "to\u{2060}ken",
        "pаssword",
    ];
    for name in names {
        let mut value = d.password();
        if name.contains("رمز") || name == "κωδικός" {
            value = d.alnum(18);
        }
        let path = flecto_path(&["prod", name]);
        out.push(Case { kind: "key", path, document: None, value: json!(value), secret: Some(value) });
    }
    let value = d.password();
    let pin = d.digits(6);
    out.push(Case {
        kind: "pin number",
        path: "door.pin".into(),
        document: None,
        value: json!(pin.parse::<u64>().expect("digits")),
        secret: Some(pin),
    });
    let otp = d.digits(8);
    out.push(Case {
        kind: "password number",
        path: "db.password".into(),
        document: None,
        value: json!(otp.parse::<u64>().expect("digits")),
        secret: Some(otp),
    });
    for shape in [
        json!({"db": {"user": "u", "pass": value}}),
        json!({"users": [{"name": "a", "password": value}]}),
        json!({"login": {"secret": {"value": value}}}),
        json!([["password", value]]),
        json!({"tokens": [value]}),
        json!({"passwords": {"reporting": value}}),
    ] {
        out.push(Case {
            kind: "subtree",
            path: "svc".into(),
            document: None,
            value: shape,
            secret: Some(value.clone()),
        });
    }
    for text in [
        format!("${{DB_PASSWORD:-{value}}}"),
        format!("${{env.DB_PASSWORD:{value}}}"),
        format!("{{{{ env \"PW\" | default \"{value}\" }}}}"),
        format!("${{PW-{value}}}"),
        format!("p${value}"),
    ] {
        out.push(Case {
            kind: "reference with a literal",
            path: "db.password".into(),
            document: None,
            value: json!(text),
            secret: Some(value.clone()),
        });
    }
}

fn containers(d: &mut Dice, out: &mut Vec<Case>) {
    let p = d.alnum(14);
    let word = d.password().replace(['#', '?', '%', ' '], "_") + "9";
    let texts: Vec<(&'static str, String, &str)> = vec![
        ("url sftp", format!("sftp://backup:{word}@files.example.net/in"), &word),
        ("url ldap", format!("ldap://cn=admin:{word}@ldap.example.net:389"), &word),
        ("url clickhouse", format!("clickhouse://default:{word}@ch:9000/db?secure=1"), &word),
        ("url smtp", format!("smtps://mailer%40example.org:{word}@smtp.example.org:465"), &word),
        ("url nats", format!("nats://{p}@nats:4222"), &p),
        ("url token user", format!("https://{p}:x-oauth-basic@git.example.org/a/b.git"), &p),
        ("url git token", format!("git+https://oauth2:{word}@git.example.org/a/b.git@v1.2"), &word),
        ("url list", format!("amqp://a:b7{word}@r1:5672,amqp://a:{word}@r2:5672"), &word),
        ("url in sentence", format!("Broker at mqtt://dev:{word}@10.1.2.3:1883, see wiki"), &word),
        ("url colon in password", format!("mysql://app:{word}:x@db/app"), &word),
        ("url slash in password", format!("postgres://app:{word}/x@db.internal/app"), &word),
        ("go dsn", format!("app:{word}@tcp(db:3306)/shop?parseTime=true"), &word),
        ("oracle thin", format!("jdbc:oracle:thin:scott/{word}@//ora:1521/XE"), &word),
        ("sqlalchemy", format!("SQLALCHEMY_DATABASE_URI=mssql+pyodbc://sa:{word}@sql/db?driver=x"), &word),
        ("odbc braces", format!("Driver={{ODBC Driver 18}};Server=sql;UID=sa;PWD={{{word};x}};Encrypt=yes"), &word),
        ("odbc", format!("DSN=prod;UID=app;PWD={word}"), &word),
        ("npgsql", format!("Host=pg;Username=app;Password={word};Database=x"), &word),
        (
            "service bus",
            format!(
                "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={}=",
                d.alnum(43)
            ),
            "SharedAccessKey=",
        ),
        ("redis stackexchange", format!("cache:6380,password={word},ssl=True,abortConnect=False"), &word),
        ("libpq", format!("host=pg port=5432 user=app password={word} dbname=x sslmode=require"), &word),
        ("libpq quoted", format!("host=pg password='{word} x' dbname=y"), &word),
        (
            "jaas",
            format!(
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"{word}\";"
            ),
            &word,
        ),
        ("query sig", format!("https://x.example.org/f?se=2030-01-01&sig={p}{p}%3D"), &p),
        ("query api-key", format!("wss://stream.example.org/v1?symbol=a&apikey={p}"), &p),
        (
            "query s3",
            format!("https://b.s3.amazonaws.com/k?X-Amz-Credential=x&X-Amz-Signature={}", d.hex(64)),
            "X-Amz-Signature=",
        ),
        ("header api key", format!("x-api-key: {p}"), &p),
        ("header token", format!("Authorization: Token {p}{p}"), &p),
        ("header basic", format!("authorization: Basic {}", b64(&format!("svc:{word}"))), "Basic "),
        ("curl header", format!("curl -sS -H 'PRIVATE-TOKEN: {p}' https://git.example.org/api"), &p),
        ("curl -u", format!("curl -fsS -u deploy:{word} https://nexus.example.org/x"), &word),
        ("curl --user=", format!("curl --user deploy:{word} https://nexus.example.org/x"), &word),
        ("mysql -p", format!("mysqldump -h db -u root -p{word} shop > /b/x.sql"), &word),
        ("sshpass", format!("sshpass -p {word} scp a b:/c"), &word),
        ("PGPASSWORD", format!("PGPASSWORD={word} psql -h pg -c 'select 1'"), &word),
        ("env string export", format!("export MYSQL_ROOT_PASSWORD={word}"), &word),
        ("docker -e", format!("docker run -e POSTGRES_PASSWORD={word} -p 5432:5432 postgres:16"), &word),
        ("docker login", format!("docker login -u ci -p {word} registry.example.org"), &word),
        ("stdin login", format!("echo {word} | docker login --username ci --password-stdin reg.example.org"), &word),
        ("kubectl literal", format!("kubectl create secret generic db --from-literal=password={word}"), &word),
        ("helm set", format!("helm upgrade x y --set auth.rootPassword={word} --set replicas=2"), &word),
        ("ansible -e", format!("ansible-playbook site.yml -e \"db_pass={word} env=prod\""), &word),
        ("java -D", format!("java -Xmx2g -Djavax.net.ssl.keyStorePassword={word} -jar a.jar"), &word),
        ("keytool", format!("keytool -import -storepass {word} -noprompt -alias x"), &word),
        ("openssl passin", format!("openssl rsa -in k.pem -passin pass:{word} -out o.pem"), &word),
        ("ldapsearch", format!("ldapsearch -x -D cn=a -w {word} -b dc=x"), &word),
        ("redis-cli", format!("redis-cli -h c -a {word} ping"), &word),
        ("mongo", format!("mongodump --host m -u a -p {word} --gzip"), &word),
        ("sqlcmd", format!("/opt/mssql-tools/bin/sqlcmd -S sql -U sa -P {word} -Q 'select 1'"), &word),
        ("rabbitmqctl", format!("rabbitmqctl add_user app {word}"), &word),
        ("long flag", format!("vault-agent --auth-token {word} --port 8080"), &word),
        ("7z", format!("7z a -p{word} out.7z in/"), &word),
        ("smbclient", format!("smbclient //h/s -U 'svc%{word}' -c ls"), &word),
        ("sql identified", format!("CREATE USER 'app'@'%' IDENTIFIED BY '{word}';"), &word),
        ("sql role", format!("ALTER ROLE app WITH LOGIN PASSWORD '{word}';"), &word),
        ("php define", format!("define('DB_PASSWORD', '{word}');"), &word),
        ("php array", format!("'password' => '{word}',"), &word),
        ("ruby hash", format!("config.secret_key = \"{word}\""), &word),
        ("python dict", format!("{{'user': 'a', 'password': '{word}'}}"), &word),
        ("python kwargs", format!("connect(host=\"h\", password=\"{word}\", port=1)"), &word),
        ("elixir", format!("config :app, secret_key_base: \"{word}\""), &word),
        ("properties", format!("db.url=jdbc:x\ndb.password = {word}\nport=1"), &word),
        ("ini", format!("[mail]\nhost = h\npasswd = {word}\n"), &word),
        ("my.cnf", format!("[client]\nuser=root\npassword=\"{word}\"\n"), &word),
        ("dotenv quoted", format!("A=1\nSECRET_KEY='{word} x'\nB=2"), &word),
        ("yaml text", format!("smtp:\n  host: h\n  auth:\n    user: u\n    pass: {word}\n"), &word),
        (
            "yaml env list",
            format!("env:\n  - name: LOG\n    value: x\n  - name: DB_PASSWORD\n    value: {word}\n"),
            &word,
        ),
        ("yaml value first", format!("- value: {word}\n  name: API_TOKEN\n"), &word),
        ("yaml block", format!("credentials:\n  password: |\n    {word}\nport: 1\n"), &word),
        (
            "yaml secret manifest",
            format!("apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\nstringData:\n  url: {word}\n"),
            &word,
        ),
        ("yaml flow", format!("db: {{user: a, password: {word}, port: 1}}"), &word),
        ("toml text", format!("[db]\nuser = \"a\"\npassword = \"{word}\"\n"), &word),
        ("json text", format!("{{\"a\": [{{\"name\": \"TOKEN\", \"value\": \"{word}\"}}]}}"), &word),
        ("json twice", serde_json::to_string(&format!("{{\"password\":\"{word}\"}}")).expect("json"), &word),
        ("xml element", format!("<server><id>n</id><password>{word}</password></server>"), &word),
        ("xml property", format!("<property name=\"connection.password\" value=\"{word}\"/>"), &word),
        ("xml hadoop", format!("<property><name>fs.s3a.secret.key</name><value>{word}</value></property>"), &word),
        ("xml attribute", format!("<Resource username=\"u\" password=\"{word}\" url=\"jdbc:x\"/>"), &word),
        ("plist", format!("<dict><key>AuthPassword</key><string>{word}</string></dict>"), &word),
        ("netrc", format!("machine api.example.org\n  login d\n  password {word}\n"), &word),
        ("pgpass", format!("db.example.org:5432:*:app:{word}"), &word),
        ("npmrc", format!("//r.example.org/:_authToken={p}"), &p),
        ("npmrc auth", format!("_auth={}", b64(&format!("u:{word}"))), "_auth="),
        ("htpasswd", format!("alice:$apr1${}${}", d.alnum(8), d.alnum(22)), "$apr1$"),
        ("git credentials", format!("https://ci:{word}@git.example.org"), &word),
        ("pypirc", format!("[pypi]\nusername = __token__\npassword = {word}\n"), &word),
        ("redis.conf", format!("maxmemory 1gb\nrequirepass {word}\nappendonly yes"), &word),
        ("apache", format!("AuthLDAPBindPassword {word}"), &word),
        ("cisco", format!("username admin privilege 15 password 0 {word}"), &word),
        ("cookie", format!("Cookie: theme=dark; sessionid={p}; lang=de"), &p),
        (
            "basic in base64 json",
            b64(&format!("{{\"auths\":{{\"r.example.org\":{{\"username\":\"u\",\"password\":\"{word}\"}}}}}}")),
            "",
        ),
        ("percent", format!("https://x.example.org/?next=https%3A%2F%2Fu%3A{word}%40h.example.org%2F"), &word),
        ("message arrow", format!("api.secretKey: \"{word}\" → \"rotated\""), &word),
        ("message from to", format!("db.password changed from \"{word}\" to \"${{DB_PASSWORD}}\""), &word),
        ("message set to", format!("DB_PASSWORD is set to {word} in prod"), &word),
        ("message value of", format!("The value of `auth.clientSecret` was `{word}`"), &word),
        ("aws cli", format!("aws configure set aws_secret_access_key {word}"), &word),
        ("terraform tfvars", format!("db_password = \"{word}\""), &word),
        ("wpa", format!("network={{\n  ssid=\"x\"\n  psk=\"{word}\"\n}}"), &word),
        ("wireguard", format!("[Interface]\nPrivateKey = {}=\nListenPort = 1", d.alnum(43)), "PrivateKey = "),
    ];
    for (kind, text, secret) in texts {
        // What follows the mark is the secret, for those that are made in place.
        let secret = if secret.is_empty() {
            text.clone()
        } else if text.contains(secret) && (secret.ends_with(['=', ' ', '$']) && secret.len() < 20) {
            text[text.find(secret).expect("a mark") + secret.len()..]
                .split([';', '&', '\n'])
                .next()
                .expect("a value")
                .trim_end_matches('=')
                .to_string()
        } else {
            secret.to_string()
        };
        out.push(Case {
            kind,
            path: d.of(PLACES).to_string(),
            document: None,
            value: json!(text),
            secret: Some(secret),
        });
    }
    for args in [
        json!(["run", "--password", word, "--port", "80"]),
        json!(["--db-password", word]),
        json!(["mysql", "-uroot", format!("-p{word}")]),
        json!(["redis-server", "--requirepass", word]),
        json!(["sh", "-c", format!("curl -u a:{word} http://h/")]),
        json!([format!("DB_PASSWORD={word}"), "LOG=1"]),
    ] {
        out.push(Case {
            kind: "argument list",
            path: "spec.containers[name=a].args".into(),
            document: None,
            value: args,
            secret: Some(word.clone()),
        });
    }
    let key = format!(
        "-----BEGIN {} PRIVATE KEY-----\n{}\n{}\n-----END {} PRIVATE KEY-----\n",
        "EC",
        d.alnum(64),
        d.alnum(40),
        "EC"
    );
    let line = key.lines().nth(1).expect("a body").to_string();
    for value in [
        json!(key),
        json!(key.replace('\n', "\\n")),
        json!(format!("tls: |\n  {}", key.replace('\n', "\n  "))),
        json!(b64(&key)),
    ] {
        let secret = if value.as_str().is_some_and(|text| text.contains(&line)) {
            line.clone()
        } else {
            value.as_str().expect("text")[60..100].to_string()
        };
        out.push(Case { kind: "private key", path: "tls.file".into(), document: None, value, secret: Some(secret) });
    }
}

fn structures(d: &mut Dice, out: &mut Vec<Case>) {
    let word = d.password();
    let mut put = |kind, path: &str, document, value: Value| {
        out.push(Case { kind, path: path.into(), document, value, secret: Some(word.clone()) });
    };
    put("selector", "spec.containers[name=a].env[name=DB_PASSWORD].value", None, json!(word));
    put("selector key", "ContainerDefinitions[Name=a].Environment[Name=API_TOKEN].Value", None, json!(word));
    put("entry", "services.db.environment[@POSTGRES_PASSWORD]", None, json!(format!("POSTGRES_PASSWORD={word}")));
    put("entry value", "services.db.environment[@POSTGRES_PASSWORD]", None, json!(word));
    put("flag entry", "args[@--admin-token]", None, json!(format!("--admin-token={word}")));
    put("secret document", "stringData.endpoint", Some("Secret/prod/x"), json!(word));
    put("secret document subtree", "stringData", Some("Secret/prod/x"), json!({"a.txt": word}));
    put("secret manifest", "$", None, json!({"apiVersion": "v1", "kind": "Secret", "stringData": {"x": word}}));
    put("ecs", "env", None, json!([{"name": "LOG", "value": "1"}, {"name": "SECRET_KEY", "value": word}]));
    put("cloudformation", "Parameters.DbPassword.Default", None, json!(word));
    put("terraform variable", "variable.db_password.default", None, json!(word));
    put("terraform pair", "workspace.vars[3]", None, json!({"key": "client_secret", "value": word, "category": "env"}));
    put("sensitive", "outputs.url", None, json!({"value": word, "sensitive": true}));
    put("gitlab", "variables[2]", None, json!({"key": "X", "value": word, "masked": true}));
    put("typed", "inputs[1]", None, json!({"type": "password", "default": word}));
    put("properties list", "connector.config", None, json!([{"name": "ssl.key.password", "value": word}]));
    put("header list", "probe.httpHeaders", None, json!([{"name": "X-Auth-Token", "value": word}]));
    put("old and new", "audit[1]", None, json!({"path": "db.password", "old": word, "new": "${X}"}));
    put("inner", "data['app.yaml']!spring.datasource.password", None, json!(word));
    put("collection", "api_keys.partner_a", None, json!(word));
    put("collection list", "auth.tokens[0]", None, json!(word));
    put("docker auth", "auths['r.example.org'].auth", None, json!(b64(&format!("ci:{word}"))));
    put("basic auth map", "scrape_configs[0].basic_auth.password", None, json!(word));
    put("jwk", "keys[0]", None, json!({"kty": "oct", "kid": "1", "k": word}));
    put("tagged", "db.password", None, json!({"$flecto": "tagged", "tag": "!sealed", "value": word}));
    put("entries envelope", "x", None, json!({"$flecto": "map", "entries": [["password", word], ["password", 1]]}));
    put(
        "item selector",
        "users[name=a,password='PW'].role".replace("PW", &word.replace('\'', "''")).as_str(),
        None,
        json!("x"),
    );
}

fn ordinary(d: &mut Dice, out: &mut Vec<Case>) {
    let sha = d.hex(40);
    let sha256 = d.hex(64);
    let uuid = format!("{}-{}-{}-{}-{}", d.hex(8), d.hex(4), d.hex(4), d.hex(4), d.hex(12));
    let der = b64(&d.alnum(60));
    let values: Vec<(&str, Value)> = vec![
        ("auth.password_policy.min_length", json!(12)),
        ("passwordMinLength", json!("12")),
        ("auth.token_ttl", json!("3600s")),
        ("max_tokens", json!(4096)),
        ("model.eos_token", json!("</s>")),
        ("model.pad_token", json!("<pad>")),
        ("tokenizer", json!("cl100k_base")),
        ("token_endpoint", json!("https://idp.example.org/oauth/token")),
        ("token_endpoint_auth_method", json!("client_secret_basic")),
        ("password_reset_url", json!("https://example.org/reset?lang=de")),
        ("secretName", json!("tls-wildcard")),
        ("existingSecret", json!("redis-auth")),
        ("auth.existingSecretPasswordKey", json!("redis-password")),
        ("imagePullSecrets[0].name", json!("regcred")),
        ("imagePullSecrets", json!([{"name": "regcred"}])),
        ("spec.env[name=DB_PASSWORD].valueFrom.secretKeyRef.key", json!("password")),
        ("env", json!([{"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}])),
        ("envFrom", json!([{"secretRef": {"name": "app-secrets"}}])),
        ("secrets.db_password.file", json!("./db_password.txt")),
        ("services.web.secrets", json!(["db_password", "api_key"])),
        ("secrets.db_password.external", json!(true)),
        ("automountServiceAccountToken", json!(false)),
        ("passwordAuthentication", json!("no")),
        ("PasswordAuthentication", json!(false)),
        ("db.password", json!("${DB_PASSWORD}")),
        ("db.password", json!("{{ .Values.db.password }}")),
        ("db.password", json!("$(DB_PASSWORD)")),
        ("db.password", json!("vault:secret/data/db#password")),
        ("db.password", json!("/run/secrets/db_password")),
        ("db.password", json!("")),
        ("db.password", json!(null)),
        ("db.password", json!("***")),
        ("db.password", json!("<encrypted:sops:0123456789ab>")),
        ("db.password", json!("[REDACTED:github-token]")),
        ("db.password", json!("<your-password>")),
        ("db.password", json!("{{ lookup('env', 'DB_PASSWORD') }}")),
        ("jobs.deploy.env.TOKEN", json!("${{ secrets.DEPLOY_TOKEN }}")),
        ("jobs.deploy.secrets", json!("inherit")),
        ("on.workflow_call.secrets.token.required", json!(true)),
        ("permissions.id-token", json!("write")),
        ("variable.db_password.type", json!("string")),
        ("variable.db_password.description", json!("Password of the database")),
        ("components.schemas.User.properties.password", json!({"type": "string", "minLength": 8})),
        ("securitySchemes.apiKey", json!({"type": "apiKey", "in": "header", "name": "X-API-Key"})),
        ("i18n.login.password", json!("Passwort")),
        ("labels.password", json!("Enter your password")),
        ("messages.errors.token", json!("Invalid token")),
        ("auth", json!("basic")),
        ("auth.type", json!("oauth2")),
        ("kafka.sasl.mechanism", json!("SCRAM-SHA-512")),
        ("compass.heading", json!(12)),
        ("passthrough", json!("headers")),
        ("bypass.rules[0]", json!("internal")),
        ("monkey", json!("patch")),
        ("keyboard.layout", json!("de")),
        ("cache.key", json!("build-${{ hashFiles('**/Cargo.lock') }}")),
        ("steps[2].with.key", json!("linux-cargo-v3")),
        ("sort_key", json!("created_at")),
        ("primaryKey", json!("id")),
        ("partitionKey", json!("/tenantId")),
        ("author", json!("Jane Doe")),
        ("authority", json!("https://login.example.org/")),
        ("spin.rate", json!(3)),
        ("led_pin", json!(13)),
        ("gpio.pins", json!([4, 17, 27])),
        ("image", json!(format!("registry.example.org/app@sha256:{sha256}"))),
        ("commit", json!(sha)),
        ("source.rev", json!(sha)),
        ("hash", json!(sha)),
        ("checksum", json!(format!("sha256:{sha256}"))),
        ("tarball.sha256", json!(sha256)),
        ("integrity", json!(format!("sha512-{}==", d.alnum(86)))),
        ("tenant_id", json!(uuid)),
        (
            "client_id",
            json!(format!(
                "{}-{}.apps.googleusercontent.com",
                d.digits(12),
                d.chars("abcdefghijklmnopqrstuvwxyz0123456789", 32)
            )),
        ),
        ("oauth.clientId", json!(uuid)),
        ("ssh_authorized_keys[0]", json!(format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{} me@host", d.alnum(43)))),
        ("publicKey", json!(format!("MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE{der}"))),
        ("ca.crt", json!(format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", d.alnum(64)))),
        ("jwks.keys[0]", json!({"kty": "RSA", "kid": "1", "n": d.alnum(342), "e": "AQAB"})),
        ("url", json!("https://example.org/users/@me/posts?page=2&sort=key")),
        ("homepage", json!("https://medium.com/@someone/how-to-store-a-password")),
        ("repo", json!("git@github.com:example/app.git")),
        ("repo", json!("ssh://git@git.example.org:22/app.git")),
        ("dsn", json!("postgres://db.internal:5432/app")),
        ("DATABASE_URL", json!("postgres://app:${DB_PASSWORD}@db/app")),
        ("url", json!("postgres://app:$(PW)@db:5432/app")),
        ("redis", json!("redis://cache:6379/0")),
        ("brokers", json!("k1:9092,k2:9092")),
        ("npm", json!("npm:react@18.2.0")),
        ("contact", json!("mailto:team@example.org")),
        ("schedule", json!("*/5 * * * *")),
        ("cron", json!("0 3 * * 1-5")),
        ("resources.limits.memory", json!("512Mi")),
        ("regex", json!("^[A-Za-z0-9_]{3,}:[^@]+@example\\.org$")),
        ("class", json!("org.example.security.TokenAuthenticationFilterFactoryBean2")),
        ("command", json!("nginx -g 'daemon off;'")),
        ("command", json!("psql -h db -p 5432 -U app -d shop")),
        ("command", json!("ssh -p 2222 deploy@host.example.org uptime")),
        ("command", json!("docker run -p 8080:80 -u 1000:1000 nginx")),
        ("command", json!("server --password-file /run/secrets/pw --token-ttl 30m")),
        ("command", json!("app --auth basic --key-file=/etc/tls/tls.key --secret-name db")),
        ("args", json!(["--secure-port=6443", "--token-auth-file=/etc/tokens.csv", "--client-ca-file", "/etc/ca.crt"])),
        ("run", json!("echo \"password rotation is done\" && exit 0")),
        ("note", json!("Passwords are stored in Vault. Ask the security team for a token.")),
        ("note", json!("auth.token_ttl raised from 3600 to 7200")),
        ("message", json!("Secret db-credentials was not found in namespace prod")),
        ("description", json!("Basic authentication is disabled; Bearer tokens are required.")),
        ("env[@LOG_LEVEL]", json!("LOG_LEVEL=debug")),
        ("env[@PASSWORD_MIN_LENGTH]", json!("PASSWORD_MIN_LENGTH=12")),
        ("env[@DB_PASSWORD]", json!("DB_PASSWORD=${DB_PASSWORD:?required}")),
        ("env[@DB_PASSWORD_FILE]", json!("DB_PASSWORD_FILE=/run/secrets/db")),
        ("env[@PWD]", json!("PWD=/app")),
        ("text", json!("server:\n  port: 8080\n  auth:\n    enabled: true\n    tokenTtl: 15m\n")),
        ("text", json!("password.encoder=bcrypt\npassword.min.length=8\nsecurity.user.name=admin\n")),
        ("text", json!("{\"kind\":\"Deployment\",\"spec\":{\"replicas\":3,\"secretRef\":{\"name\":\"x\"}}}")),
        ("log_format", json!("$remote_addr - $remote_user [$time_local] \"$request\" $status")),
        ("color", json!("#0a0b0c")),
        ("version", json!("v1.24.3-alpine3.19")),
        ("range", json!(">=3.8,<4")),
        ("timezone", json!("Europe/Berlin")),
        ("banner", json!(b64("Welcome to the production cluster. All access is logged and audited."))),
        ("price_id", json!(format!("price_{}", d.alnum(24)))),
        ("hosts", json!(["db-0.db.prod.svc.cluster.local", "10.0.0.0/8"])),
        ("cert.fingerprint", json!("AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99")),
        ("arn", json!("arn:aws:iam::123456789012:role/app-secrets-reader")),
        ("secret_arn", json!("arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf")),
        ("keyVaultSecretUri", json!("https://kv.vault.azure.net/secrets/db-password")),
        ("passenger.min_instances", json!(2)),
        ("secretary.mail", json!("office@example.org")),
        ("cookie.sameSite", json!("lax")),
        ("session.cookie", json!("connect.sid")),
        ("csrf.cookieName", json!("XSRF-TOKEN")),
        ("saltLength", json!(16)),
        ("hash_algorithm", json!("argon2id")),
        ("rotate_keys", json!("30d")),
        ("code", json!(404)),
        ("country_code", json!("DE")),
        ("zip_code", json!("10115")),
        ("exit_code", json!("137")),
        ("nixpkgs.narHash", json!(format!("sha256-{}=", d.alnum(43)))),
        ("depends", json!([format!("github.com/x/y v1.2.3 h1:{}=", d.alnum(43))])),
    ];
    for (path, value) in values {
        out.push(Case { kind: "ordinary", path: path.into(), document: None, value, secret: None });
    }
}

/// The text of a path of string keys.
fn flecto_path(keys: &[&str]) -> String {
    use flecto::path::{Path, Segment};
    Path(keys.iter().map(|key| Segment::Key((*key).to_string())).collect()).to_string()
}
