"""Kinds of secrets as their providers issue them: a name, and a function that makes a value from random characters.

Nothing here is a secret, and no value is written down: a scanner that reads this repository finds no token.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from dataclasses import dataclass

LOWER, UPPER, DIGITS = string.ascii_lowercase, string.ascii_uppercase, string.digits
ALNUM = LOWER + UPPER + DIGITS
HEX = DIGITS + "abcdef"
URL_SAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"

Maker = Callable[[random.Random], str]


@dataclass(frozen=True)
class Kind:
    """`literal` makes what must not be found again; `line`, with `{}` for it, is how the kind is written, if not assigned.

    `name` is the variable to which the literal is assigned otherwise.
    """

    id: str
    literal: Maker
    name: str = "credential"
    line: str = ""


def chars(alphabet: str, count: int) -> Maker:
    """Return a maker of `count` random characters."""
    return lambda chance: "".join(chance.choices(alphabet, k=count))


def joined(*parts: str | Maker) -> Maker:
    """Return a maker that joins fixed and made parts."""
    return lambda chance: "".join(part if isinstance(part, str) else part(chance) for part in parts)


def jwt(chance: random.Random) -> str:
    """Make a signed token of a random subject."""
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": str(chance.getrandbits(40)), "iat": chance.getrandbits(31)})
    head = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts]
    return ".".join([*head, chars(URL_SAFE, 43)(chance)])


def password(chance: random.Random) -> str:
    """Make a password of 14 characters: letters, digits and signs, as a password manager does."""
    made = [chance.choice(LOWER), chance.choice(UPPER), chance.choice(DIGITS), chance.choice("!#%_+-")]
    made += chance.choices(ALNUM + "!#%_+-", k=10)
    chance.shuffle(made)
    return made[0].replace("-", "k") + "".join(made[1:])


def basic(chance: random.Random) -> str:
    """Make the credentials of a Basic header."""
    return base64.b64encode(f"deploy:{chars(ALNUM, 20)(chance)}".encode()).decode()


def pem_body(count: int) -> Maker:
    """Return a maker of lines of base64 as they stand in an armoured key."""

    def make(chance: random.Random) -> str:
        text = base64.b64encode(chance.randbytes(count)).decode()
        return "\n".join(text[at : at + 64] for at in range(0, len(text), 64))

    return make


def armoured(label: str) -> str:
    """Return the lines around a key; put together here, because scanners look for them."""
    return f"-----{'BEGIN'} {label}-----\n{{}}\n-----{'END'} {label}-----"


TOKENS = (
    Kind("openai", joined("sk-", chars(ALNUM, 20), "T3Blbk", "FJ", chars(ALNUM, 20))),
    Kind("openai-project", joined("sk-" + "proj-", chars(URL_SAFE, 74), "T3Blbk", "FJ", chars(URL_SAFE, 74))),
    Kind("anthropic", joined("sk-" + "ant-api03-", chars(URL_SAFE, 93), "AA")),
    Kind("huggingface", joined("hf" + "_", chars(LOWER + UPPER, 34))),
    Kind("groq", joined("gsk" + "_", chars(ALNUM, 52))),
    Kind("perplexity", joined("pplx" + "-", chars(ALNUM, 48))),
    Kind("replicate", joined("r8" + "_", chars(ALNUM, 37))),
    Kind("xai", joined("xai" + "-", chars(ALNUM, 80))),
    Kind("nvidia", joined("nvapi" + "-", chars(URL_SAFE, 64))),
    Kind("openrouter", joined("sk-or-" + "v1-", chars(HEX, 64))),
    Kind("mistral", chars(ALNUM, 32), "MISTRAL_API_KEY"),
    Kind("cohere", chars(ALNUM, 40), "COHERE_API_KEY"),
    Kind("github-pat", joined("ghp" + "_", chars(ALNUM, 36))),
    Kind("github-oauth", joined("gho" + "_", chars(ALNUM, 36))),
    Kind("github-app", joined("ghs" + "_", chars(ALNUM, 36))),
    Kind("github-fine-grained", joined("github" + "_pat_", chars(ALNUM, 22), "_", chars(ALNUM, 59))),
    Kind("gitlab-pat", joined("glpat" + "-", chars(URL_SAFE, 20))),
    Kind("gitlab-trigger", joined("glptt" + "-", chars(HEX, 40))),
    Kind("gitlab-deploy", joined("gldt" + "-", chars(URL_SAFE, 20))),
    Kind("gitlab-runner", joined("glrt" + "-", chars(URL_SAFE, 20))),
    Kind("bitbucket", joined("ATBB", chars(ALNUM, 32))),
    Kind("npm", joined("npm" + "_", chars(ALNUM, 36))),
    Kind("pypi", joined("pypi" + "-AgEIcHlwaS5vcmc", chars(URL_SAFE, 70))),
    Kind("rubygems", joined("rubygems" + "_", chars(HEX, 48))),
    Kind("crates-io", joined("ci" + "o", chars(ALNUM, 32))),
    Kind("nuget", joined("oy" + "2", chars(LOWER + DIGITS, 43))),
    Kind("docker-hub", joined("dckr" + "_pat_", chars(URL_SAFE, 27))),
    Kind("aws-access-key-id", joined("AKI" + "A", chars(UPPER + "234567", 16))),
    Kind("aws-secret-access-key", chars(BASE64, 40), "aws_secret_access_key"),
    Kind("gcp-api-key", joined("AIz" + "a", chars(URL_SAFE, 35))),
    Kind("gcp-oauth-client-secret", joined("GOC" + "SPX-", chars(URL_SAFE, 28))),
    Kind("azure-ad-client-secret", joined(chars(ALNUM, 3), "8Q~", chars(ALNUM, 34))),
    Kind("azure-storage-key", joined(chars(BASE64, 86), "=="), line="DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};EndpointSuffix=core.windows.net"),
    Kind("azure-sas", joined(chars(ALNUM, 43), "%3D"), line="https://shop.blob.core.windows.net/a?sv=2023-11-03&sp=r&sig={}"),
    Kind("digitalocean", joined("dop" + "_v1_", chars(HEX, 64))),
    Kind("heroku", joined("HRKU" + "-AA", chars(URL_SAFE, 58))),
    Kind("flyio", joined("fo1" + "_", chars(ALNUM, 43))),
    Kind("cloudflare", chars(URL_SAFE, 40), "CLOUDFLARE_API_TOKEN"),
    Kind("fastly", chars(URL_SAFE, 32), "fastly_api_token"),
    Kind("vercel", joined("vcp" + "_", chars(ALNUM, 56))),
    Kind("netlify", joined("nfp" + "_", chars(ALNUM, 36))),
    Kind("supabase", joined("sbp" + "_", chars(HEX, 40))),
    Kind("planetscale", joined("pscale" + "_tkn_", chars(ALNUM, 43))),
    Kind("slack-bot", joined("xox" + "b-", chars(DIGITS, 12), "-", chars(DIGITS, 12), "-", chars(ALNUM, 24))),
    Kind("slack-app", joined("xap" + "p-1-", chars(UPPER + DIGITS, 11), "-", chars(DIGITS, 13), "-", chars(HEX, 64))),
    Kind("slack-webhook", joined("T", chars(UPPER + DIGITS, 10), "/B", chars(UPPER + DIGITS, 10), "/", chars(ALNUM, 24)), line="https://hooks." + "slack.com/services/{}"),
    Kind("discord-bot", joined("M", chars(ALNUM, 25), ".", chars(URL_SAFE, 6), ".", chars(URL_SAFE, 38)), "discord_token"),
    Kind("discord-webhook", chars(URL_SAFE, 68), line="https://discord" + ".com/api/webhooks/123829462345123829/{}"),
    Kind("telegram", joined(chars("123456789", 10), ":AA", chars(URL_SAFE, 33))),
    Kind("twilio", joined("S" + "K", chars(HEX, 32)), "twilio_api_key"),
    Kind("sendgrid", joined("SG" + ".", chars(URL_SAFE, 22), ".", chars(URL_SAFE, 43))),
    Kind("mailgun", joined("key" + "-", chars(HEX, 32))),
    Kind("mailchimp", joined(chars(HEX, 32), "-us" + "12")),
    Kind("stripe-live", joined("sk" + "_live_", chars(ALNUM, 24))),
    Kind("stripe-webhook", joined("whsec" + "_", chars(ALNUM, 32))),
    Kind("square", joined("sq0" + "atp-", chars(URL_SAFE, 22))),
    Kind("shopify", joined("shpat" + "_", chars(HEX, 32))),
    Kind("datadog", chars(HEX, 32), "DD_API_KEY"),
    Kind("new-relic", joined("NRA" + "K-", chars(UPPER + DIGITS, 27))),
    Kind("sentry", joined("sntryu" + "_", chars(HEX, 64))),
    Kind("sentry-dsn", chars(HEX, 32), line="https://{}@o450.ingest.sentry.io/4507"),
    Kind("grafana", joined("glsa" + "_", chars(ALNUM, 32), "_", chars(HEX, 8))),
    Kind("vault", joined("hvs" + ".", chars(URL_SAFE, 95))),
    Kind("terraform-cloud", joined(chars(ALNUM, 14), ".atlas" + "v1.", chars(URL_SAFE, 67))),
    Kind("doppler", joined("dp" + ".pt.", chars(ALNUM, 43))),
    Kind("pulumi", joined("pul" + "-", chars(HEX, 40))),
    Kind("linear", joined("lin" + "_api_", chars(ALNUM, 40))),
    Kind("notion", joined("ntn" + "_", chars(DIGITS, 11), chars(ALNUM, 35))),
    Kind("airtable", joined("pat", chars(ALNUM, 14), ".", chars(HEX, 64))),
    Kind("asana", joined("1/", chars("123456789", 16), ":", chars(HEX, 32)), "asana_token"),
    Kind("atlassian", joined("ATATT" + "3", chars(URL_SAFE, 186))),
    Kind("postman", joined("PMA" + "K-", chars(HEX, 24), "-", chars(HEX, 34))),
    Kind("databricks", joined("dap" + "i", chars(HEX, 32))),
    Kind("snowflake", password, "snowflake_password"),
    Kind("okta", joined("00", chars(URL_SAFE, 40)), "okta_api_token"),
    Kind("facebook", joined("EAA", chars(ALNUM, 160))),
    Kind("hubspot", joined("pat-" + "na1-", chars(HEX, 8), "-", chars(HEX, 4), "-", chars(HEX, 4), "-", chars(HEX, 4), "-", chars(HEX, 12))),
    Kind("figma", joined("figd" + "_", chars(URL_SAFE, 40))),
    Kind("age", joined("AGE-SECRET" + "-KEY-1", chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))),
    Kind("jwt", jwt),
)  # fmt: skip

PLACES = (
    Kind("postgres-url", password, line="postgres://app:{}@db.internal:5432/shop"),
    Kind("mongodb-url", password, line="mongodb+srv://app:{}@cluster0.ab1cd.mongodb.net/shop"),
    Kind("redis-url", chars(ALNUM, 20), line="redis://:{}@cache.internal:6379/0"),
    Kind("amqp-url", password, line="amqp://worker:{}@mq.internal/"),
    Kind("git-url", chars(ALNUM, 30), line="https://deploy:{}@git.internal/shop.git"),
    Kind("jdbc-url", password, line="jdbc:mysql://db.internal/shop?user=app&password={}"),
    Kind("ado-connection", password, line="Server=db.internal;Database=shop;User Id=app;Password={};Encrypt=true"),
    Kind("bearer-header", chars(ALNUM, 40), line="Authorization: Bearer {}"),
    Kind("basic-header", basic, line="Authorization: Basic {}"),
    Kind("api-key-header", chars(HEX, 40), line="X-Api-Key: {}"),
    Kind("password", password, "password"),
    Kind("hex-secret", chars(HEX, 40), "client_secret"),
    Kind("random-token", chars(ALNUM, 32), "auth_token"),
    Kind("wireguard", joined(chars(BASE64, 43), "="), "PrivateKey"),
    Kind("signing-key", joined(chars(BASE64, 64)), "JWT_SIGNING_KEY"),
    Kind("encryption-key", chars(HEX, 64), "encryptionKey"),
)  # fmt: skip

KEYS = (
    Kind("rsa-key", pem_body(1190), line=armoured("RSA PRIVATE " + "KEY")),
    Kind("pkcs8-key", pem_body(1216), line=armoured("PRIVATE " + "KEY")),
    Kind("ec-key", pem_body(121), line=armoured("EC PRIVATE " + "KEY")),
    Kind("openssh-key", pem_body(300), line=armoured("OPENSSH PRIVATE " + "KEY")),
    Kind("pgp-key", pem_body(900), line=armoured("PGP PRIVATE " + "KEY BLOCK")),
)

KINDS = (*TOKENS, *PLACES, *KEYS)
