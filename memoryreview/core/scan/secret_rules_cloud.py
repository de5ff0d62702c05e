"""Block rules: cloud providers, code hosting, model providers, package registries."""

from __future__ import annotations

from dataclasses import replace

from .secret_rule import NO_PLACEHOLDER, SecretRule, rule, token

CLOUD_RULES: tuple[SecretRule, ...] = (
    rule(
        "aws-access-key-id", "an AWS access key", 2.5, "AKIA ASIA ABIA ACCA",
        r"(?<![A-Z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}(?![A-Z0-9])", "AKIA<b32:16>",
    ),
    rule("aws-bedrock-key", "an AWS Bedrock key", 3.5, "ABSK", r"ABSK[A-Za-z0-9+/]{109,269}={0,2}", "ABSK<b64:109>"),
    token("aws-appsync", "an AWS AppSync key", 3.2, "da2-", r"da2-[a-z0-9]{26}", "da2-<low:26>"),
    token(
        "github-token", "a GitHub token", 3.5, "ghp_ gho_ ghu_ ghs_ ghr_",
        r"gh[pousr]_[A-Za-z0-9]{36,255}", "ghp_<b62:36>",
    ),
    token(
        "github-fine-grained", "a GitHub fine-grained token", 3.5, "github_pat_",
        r"github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}", "github_pat_<b62:22>_<b62:59>",
    ),
    rule(
        "gitlab-token", "a GitLab token", 3.2,
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
        r"(?<![A-Za-z0-9_])gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[A-Za-z0-9_.\-]{20,300}",
        "glpat-<b62:20>",
    ),
    rule(
        "gitlab-runner-reg", "a GitLab runner token", 3.5, "GR1348941",
        r"GR1348941[A-Za-z0-9_\-]{20}", "GR1348941<b62:20>",
    ),
    rule(
        "openai-key", "an OpenAI key", 3.5, "T3BlbkFJ",
        r"sk-(?:[A-Za-z]{2,12}-)?[A-Za-z0-9_\-]{18,120}T3BlbkFJ[A-Za-z0-9_\-]{18,120}",
        "sk-proj-<b62:18>T3BlbkFJ<b62:18>",
    ),
    rule(
        "anthropic-key", "an Anthropic key", 3.5, "sk-ant-",
        r"sk-ant-(?:api|admin|oat|ort|sid)\d{2}-[A-Za-z0-9_\-]{60,130}", "sk-ant-api03-<b62:60>",
    ),
    rule(
        "openrouter-key", "an OpenRouter key", 3.0, "sk-or-v1-",
        r"sk-or-v1-[0-9a-f]{64}(?![A-Za-z0-9_])", "sk-or-v1-<hex:64>",
    ),
    token("sk-hex32", "a provider key", 3.0, "sk-", r"sk-[0-9a-f]{32}", "sk-<hex:32>"),
    token("sk-alnum48", "a provider key", 4.0, "sk-", r"sk-[A-Za-z0-9]{48}", "sk-<b62:48>"),
    rule(
        "google-api-key", "a Google API key", 3.5, "AIza",
        r"(?<![A-Za-z0-9_\-])AIza[0-9A-Za-z_\-]{35}(?![0-9A-Za-z_\-])", "AIza<b62:35>",
    ),
    rule(
        "google-oauth-secret", "a Google OAuth client secret", 3.3, "GOCSPX-",
        r"GOCSPX-[A-Za-z0-9_\-]{28}", "GOCSPX-<b62:28>",
    ),
    rule(
        "google-oauth-token", "a Google OAuth token", 3.5, "ya29.", r"ya29\.[0-9A-Za-z_\-]{40,}", "ya29.<b62:40>",
    ),
    rule(
        "azure-storage-key", "an Azure storage key", 3.5, "AccountKey= SharedAccessKey=",
        r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{43,88}={1,2}", "AccountKey=<b64:86>==", "AccountKey=<b64:42>==",
    ),
    rule(
        "azure-ad-secret", "an Azure client secret", 3.5, "Q~",
        r"(?<![A-Za-z0-9_~.\-])[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}(?![A-Za-z0-9_~.\-])",
        "<b62:3>8Q~<b62:31>",
    ),
    replace(  # a genuine one holds a run of the letter A
        token(
            "azure-devops-pat", "an Azure DevOps token", 3.5, "AZDO",
            r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "<b62:52>JQQJ99EZACLMAAAAAAAAAAAAAZDO<b62:4>",
        ),
        placeholder=NO_PLACEHOLDER,
    ),
    rule(
        "azure-sas", "an Azure shared access signature", 3.5, "&sig=",
        r"[?&](?:sv|sp|se|sr|st|spr)=[^\s]{4,200}&sig=[A-Za-z0-9%/+]{40,200}(?:%3D|=)",
        "?sv=2023-11-03&sr=c&sig=<b62:43>%3D", "?sv=2023-11-03&sr=c&sig=<b62:39>%3D",
    ),
    token("npm-token", "an npm token", 3.5, "npm_", r"npm_[A-Za-z0-9]{36}", "npm_<b62:36>"),
    rule(
        "pypi-token", "a PyPI token", 3.5, "pypi-AgE",
        r"pypi-AgE(?:IcHlwaS5vcmc|NdGVzdC5weXBpLm9yZw)[A-Za-z0-9_\-]{50,1000}", "pypi-AgEIcHlwaS5vcmc<b62:50>",
    ),
    rule("rubygems", "a RubyGems key", 3.0, "rubygems_", r"rubygems_[0-9a-f]{48}", "rubygems_<hex:48>"),
    token("nuget", "a NuGet key", 3.5, "oy2", r"oy2[a-z0-9]{43}", "oy2<low:43>"),
    token("crates-io", "a crates.io token", 4.0, "cio", r"cio[A-Za-z0-9]{32}", "cio<b62:32>"),
    token("hf-token", "a Hugging Face token", 3.5, "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z]{34}", "hf_<alpha:34>"),
    token("groq", "a Groq key", 3.5, "gsk_", r"gsk_[A-Za-z0-9]{52}", "gsk_<b62:52>"),
    token("xai", "an xAI key", 3.5, "xai-", r"xai-[A-Za-z0-9]{70,90}", "xai-<b62:70>"),
    token("perplexity", "a Perplexity key", 3.5, "pplx-", r"pplx-[A-Za-z0-9]{48}", "pplx-<b62:48>"),
    token("replicate", "a Replicate token", 3.5, "r8_", r"r8_[A-Za-z0-9]{37}", "r8_<b62:37>"),
    rule("nvidia", "an NVIDIA key", 3.5, "nvapi-", r"(?<![A-Za-z0-9_])nvapi-[A-Za-z0-9_\-]{60,80}", "nvapi-<b62:60>"),
    token(
        "langsmith", "a LangSmith key", 3.0, "lsv2_",
        r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "lsv2_pt_<hex:32>_<hex:10>",
    ),
    token("elevenlabs", "an ElevenLabs key", 3.0, "sk_", r"sk_[0-9a-f]{48}", "sk_<hex:48>"),
    token("tavily", "a Tavily key", 3.5, "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{32}", "tvly-dev-<b62:32>"),
    token("firecrawl", "a Firecrawl key", 3.0, "fc-", r"fc-[0-9a-f]{32}", "fc-<hex:32>"),
    rule(
        "jina", "a Jina key", 3.5, "jina_",
        r"(?<![A-Za-z0-9_])jina_[0-9a-f]{32}[A-Za-z0-9_\-]{28}", "jina_<hex:32><b62:28>",
    ),
    token("digitalocean", "a DigitalOcean token", 3.0, "_v1_", r"do[oprt]_v1_[0-9a-f]{64}", "dop_v1_<hex:64>"),
    rule(
        "cloudflare-origin", "a Cloudflare origin key", 3.0, "v1.0-",
        r"v1\.0-[0-9a-f]{24}-[0-9a-f]{146}", "v1.0-<hex:24>-<hex:146>",
    ),
    rule("heroku", "a Heroku key", 3.5, "HRKU-", r"HRKU-[0-9A-Za-z_\-]{36,70}", "HRKU-<b62:36>"),
    rule(
        "planetscale", "a PlanetScale credential", 3.0, "pscale_",
        r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.=\-]{32,70}", "pscale_tkn_<b62:32>",
    ),
    token("pulumi", "a Pulumi token", 3.0, "pul-", r"pul-[0-9a-f]{40}", "pul-<hex:40>"),
    rule(
        "supabase", "a Supabase key", 3.0, "sbp_ sb_secret_",
        r"(?<![A-Za-z0-9_])(?:sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_\-]{20,60})", "sb_secret_<b62:20>",
    ),
    token("databricks", "a Databricks token", 3.0, "dapi", r"dapi[0-9a-f]{32}(?:-\d)?", "dapi<hex:32>"),
    rule(
        "vault", "a Vault token", 3.5, "hvs. hvb. hvr.",
        r"(?<![A-Za-z0-9_])hv[sbr]\.[A-Za-z0-9_\-]{24,300}", "hvs.<b62:24>",
    ),
    rule(
        "terraform-cloud", "a Terraform Cloud token", 3.5, ".atlasv1.",
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=\-]{60,80}", "<b62:14>.atlasv1.<b62:60>",
    ),
    rule(
        "docker-hub", "a Docker Hub token", 3.5, "dckr_pat_ dckr_oat_",
        r"dckr_[po]at_[A-Za-z0-9_\-]{27,40}", "dckr_pat_<b62:27>",
    ),
)  # fmt: skip
