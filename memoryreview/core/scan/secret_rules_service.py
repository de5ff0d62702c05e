"""Block rules: services, keys in files, credentials in URLs, our own tokens."""

from __future__ import annotations

from dataclasses import replace

from .secret_judge import judge_base64_pem, judge_jwt, judge_url
from .secret_rule import NO_PLACEHOLDER, SecretRule, rule, token

SERVICE_RULES: tuple[SecretRule, ...] = (
    rule(
        "slack-token", "a Slack token", 3.0, "xox",
        r"xox[abposre]-\d{6,20}-[A-Za-z0-9\-]{12,300}|xoxe(?:\.xox[bp])?-\d-[A-Za-z0-9]{100,}", "xoxb-<dig:6>-<b62:12>",
    ),
    rule(
        "slack-app", "a Slack app token", 3.0, "xapp-",
        r"xapp-\d-[A-Z0-9]{8,20}-\d{8,20}-[a-f0-9]{40,}", "xapp-1-<up:8>-<dig:8>-<hex:40>",
    ),
    rule(
        "slack-webhook", "a Slack webhook address", 3.0, "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Z0-9]{8,20}/[A-Za-z0-9]{8,40}/[A-Za-z0-9]{18,}",
        "hooks.slack.com/services/T<up:8>/B<up:8>/<b62:18>",
    ),
    rule(
        "discord-webhook", "a Discord webhook address", 3.5, "/api/webhooks/",
        r"discord(?:app)?\.com/api/webhooks/\d{15,21}/[A-Za-z0-9_\-]{50,80}",
        "discord.com/api/webhooks/<dig:18>/<b62:50>",
    ),
    rule(
        "discord-bot", "a Discord bot token", 3.8, ".",
        r"(?<![A-Za-z0-9_\-.])[MNO][A-Za-z0-9_\-]{22,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,45}(?![A-Za-z0-9_\-])",
        "M<b62:23>.<b62:6>.<b62:27>",
    ),
    rule(
        "telegram-bot", "a Telegram bot token", 3.5, ":AA",
        r"(?<![0-9A-Za-z])\d{8,10}:AA[A-Za-z0-9_\-]{32,35}(?![A-Za-z0-9_\-])", "<dig:9>:AA<b62:32>",
    ),
    rule(
        "teams-webhook", "a Teams webhook address", 0, "/IncomingWebhook/",
        r"(?:outlook\.office\.com/webhook|webhook\.office\.com/webhookb2)/[0-9a-f\-]{36}@[0-9a-f\-]{36}"
        r"/IncomingWebhook/[0-9a-z]{32}/[0-9a-f\-]{36}",
        "outlook.office.com/webhook/<hex:36>@<hex:36>/IncomingWebhook/<low:32>/<hex:36>",
    ),
    rule(
        "stripe-live", "a Stripe live key", 3.2, "sk_live_ rk_live_",
        r"(?<![A-Za-z0-9_])[sr]k_live_[A-Za-z0-9]{20,250}", "sk_live_<b62:20>",
    ),
    rule(
        "webhook-secret", "a webhook signing secret", 3.5, "whsec_",
        r"(?<![A-Za-z0-9_])whsec_[A-Za-z0-9+/]{32,100}={0,2}", "whsec_<b64:32>",
    ),
    token(
        "square", "a Square token", 3.5, "sq0csp- sq0atp- EAAA",
        r"sq0(?:csp|atp)-[A-Za-z0-9_\-]{22,43}|EAAA[A-Za-z0-9_\-]{60}", "sq0atp-<b62:22>",
    ),
    token(
        "shopify", "a Shopify token", 3.0, "shpat_ shpca_ shppa_ shpss_",
        r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}", "shpat_<hex:32>",
    ),
    token("twilio-api-key", "a Twilio API key", 3.0, "SK", r"SK[0-9a-f]{32}", "SK<hex:32>"),
    token(
        "sendgrid-key", "a SendGrid key", 3.8, "SG.",
        r"SG\.[A-Za-z0-9_\-]{22}\.[A-Za-z0-9_\-]{43}", "SG.<b62:22>.<b62:43>",
    ),
    rule("brevo", "a Brevo key", 3.0, "xkeysib-", r"xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}", "xkeysib-<hex:64>-<b62:16>"),
    token(
        "linear", "a Linear key", 3.5, "lin_api_ lin_oauth_",
        r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}", "lin_api_<b62:40>",
    ),
    token("notion", "a Notion token", 3.5, "ntn_", r"ntn_[0-9]{11}[A-Za-z0-9]{32,40}", "ntn_<dig:11><b62:32>"),
    token("airtable", "an Airtable token", 3.5, "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "pat<b62:14>.<hex:64>"),
    rule(
        "figma", "a Figma token", 3.5, "fig",
        r"(?<![A-Za-z0-9_])fig[dou][rh]?_[A-Za-z0-9_\-]{38,60}", "figd_<b62:38>",
    ),
    rule(
        "atlassian", "an Atlassian token", 3.5, "TT3xFfG",
        r"AT[AC]TT3xFfG[A-Za-z0-9+/=_\-]{100,250}", "ATATT3xFfG<b62:100>",
    ),
    rule(
        "grafana", "a Grafana token", 3.3, "glsa_ glc_",
        r"(?<![A-Za-z0-9_])(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})",
        "glsa_<b62:32>_<hex:8>",
    ),
    rule(
        "sentry-token", "a Sentry token", 3.0, "sntryu_ sntrys_",
        r"(?<![A-Za-z0-9_])(?:sntryu_[0-9a-f]{64}|sntrys_eyJ[A-Za-z0-9+/=_\-]{40,500})", "sntryu_<hex:64>",
    ),
    rule("postman", "a Postman key", 3.0, "PMAK-", r"PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34}", "PMAK-<hex:24>-<hex:34>"),
    rule("newrelic", "a New Relic key", 3.0, "NRAK-", r"NRAK-[A-Z0-9]{27}(?![A-Za-z0-9_])", "NRAK-<up:27>"),
    rule(
        "newrelic-other", "a New Relic key", 3.0, "NRAA- NRII- NRIQ- NRRA- px-api- px-dep-",
        r"NR(?:AA|II|IQ|RA)-[A-Za-z0-9_\-]{27,42}|px-(?:api|dep)-[0-9a-f\-]{36}", "NRII-<b62:27>",
    ),
    rule(
        "dynatrace", "a Dynatrace token", 3.5, "dt0",
        r"(?<![A-Za-z0-9_])dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}(?![A-Za-z0-9_])", "dt0c01.<up:24>.<up:64>",
    ),
    rule(
        "tailscale", "a Tailscale key", 3.5, "tskey-",
        r"tskey-(?:auth|api|client|scim|webhook)-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{16,64}", "tskey-auth-<b62:10>-<b62:16>",
    ),
    rule(
        "1password-sa", "a 1Password service account token", 3.5, "ops_eyJ",
        r"ops_eyJ[A-Za-z0-9+/=_\-]{200,2000}", "ops_eyJ<b62:200>",
    ),
    rule(
        "doppler", "a Doppler token", 3.5, "dp.",
        r"(?<![A-Za-z0-9_])dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9_.\-]{40,60}", "dp.pt.<b62:40>",
    ),
    token("adafruit", "an Adafruit IO key", 3.5, "aio_", r"aio_[A-Za-z0-9]{28}", "aio_<b62:28>"),
    rule(
        "dropbox", "a Dropbox token", 3.5, "sl.",
        r"(?<![A-Za-z0-9_.])sl\.(?:u\.)?[A-Za-z0-9_\-]{120,300}", "sl.<b62:120>",
    ),
    rule(
        "twitch-stream", "a Twitch stream key", 3.5, "live_",
        r"(?<![A-Za-z0-9_])live_\d{5,12}_[A-Za-z0-9]{28,40}(?![A-Za-z0-9_])", "live_<dig:8>_<b62:28>",
    ),
    token(
        "sourcegraph", "a Sourcegraph token", 3.0, "sgp_",
        r"sgp_(?:(?:[0-9a-f]{16}|local)_)?[0-9A-Fa-f]{40,64}", "sgp_local_<hex:40>",
    ),
    rule(
        "salesforce", "a Salesforce session", 3.5, "00D",
        r"(?<![A-Za-z0-9_])00D[A-Za-z0-9]{12,15}![A-Za-z0-9._]{80,140}", "00D<b62:12>!<b62:80>",
    ),
    rule("okta-ssws", "an Okta token", 3.5, "SSWS 00", r"SSWS 00[A-Za-z0-9_\-]{40}", "SSWS 00<b62:40>"),
    token("dependency-track", "a Dependency-Track key", 3.5, "odt_", r"odt_[A-Za-z0-9]{32,40}", "odt_<b62:32>"),
    token("own-token", "a memoryreview agent token", 3.0, "mrv_", r"mrv_[A-Za-z0-9]{44}", "mrv_<b62:44>"),
    rule(
        "age-key", "an age identity", 3.5, "AGE-SECRET-KEY-",
        r"AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}", "AGE-SECRET-KEY-1<bech:58>",
    ),
    replace(
        rule(
            "private-key-pem", "a private key", 0, "PRIVATE",
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:\\[nr]|[\s\"'+,>|#]|[A-Za-z\-]{2,30}: ?[^\n]{0,80}\n){0,60}[A-Za-z0-9+/=]{40,}",
            "-----BEGIN RSA PRIVATE KEY-----\n<b64:40>", "-----BEGIN RSA PRIVATE KEY-----\n<b64:39>",
        ),
        placeholder=NO_PLACEHOLDER,
    ),
    replace(
        rule(
            "putty-key", "a PuTTY private key", 0, "PuTTY-User-Key-File-",
            r"PuTTY-User-Key-File-[23]:[^\0]{20,2000}?Private-Lines:",
            "PuTTY-User-Key-File-3: ssh-ed25519\nComment: <low:8>\nPrivate-Lines:",
        ),
        placeholder=NO_PLACEHOLDER,
    ),
    replace(
        rule(
            "base64-pem", "a private key in base64", 3.5, "LS0tLS1CRUdJTi",
            r"LS0tLS1CRUdJTi[A-Za-z0-9+/\n]{60,8000}={0,2}", "<b64pem:64>", "LS0tLS1CRUdJTi<b64:60>",
        ),
        placeholder=NO_PLACEHOLDER, judge=judge_base64_pem,
    ),
    replace(
        rule(
            "jwt", "a signed web token (JWT)", 0, "eyJ",
            r"(?<![A-Za-z0-9_\-])eyJ[A-Za-z0-9_\-]{12,2000}\.eyJ[A-Za-z0-9_\-]{8,6000}\.[A-Za-z0-9_\-]{20,1400}",
            "<jwt:20>",
        ),
        placeholder=NO_PLACEHOLDER, judge=judge_jwt,
    ),
    replace(
        rule(
            "url-credentials", "a password inside an address", 0, "://",
            r"\b[A-Za-z][A-Za-z0-9+.\-]{1,20}://([^\s:/@'\"<>`(){}|]{0,80}):([^\s/'\"<>`(){}|\[\]]{3,200})"
            r"@([A-Za-z0-9.\-\[\]:]{1,200})",
            "postgres://svc:<b62:16>@db.acme.test/app", "postgres://svc:password@db.acme.test/app",
        ),
        group=2, judge=judge_url,
    ),
)  # fmt: skip
