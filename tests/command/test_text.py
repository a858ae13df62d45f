"""words.text: no secret gets into files, pages and the terminal."""

import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate_retrieval.words.text import LONGEST_TEXT, printable, without_secrets

SECRET = "s3cret"
SECRETS = [
    f"refused: http://elastic:{SECRET}@host:9200/x",
    f"postgresql://user:{SECRET}/{SECRET}@{SECRET}@host/db",
    f"https://{SECRET}@host/",
    f"no folder /data/http:/elastic:{SECRET}@host/x",
    f"GET /search?api_key={SECRET}&token={SECRET}",
    f"could not log in with password='{SECRET} {SECRET}' at once",
    f"PASSWORD = {SECRET}",
    f"connect(client_secret={SECRET})",
    f"Authorization: Bearer {SECRET}",
    f"authorization: Basic {SECRET}",
    f"{{'Authorization': 'ApiKey {SECRET}', 'a': 1}}",
    f'{{"access_token": "{SECRET}"}}',
    f'"{{\\"password\\": \\"{SECRET} {SECRET}\\"}}"',
    f"x-api-key: {SECRET}",
    f"Bearer {SECRET} is refused",
    f"token: {SECRET}",
    f"pwd:{SECRET}",
    f"pass={SECRET}",
    f"passphrase={SECRET}",
    f"passphrase: {SECRET}",
    f"https://host/x?sig={SECRET}",
    f"https://host/x?X-Amz-Signature={SECRET}&a=1",
    f"https://host/callback?code={SECRET}",
    f"Cookie: a={SECRET}; b={SECRET}",
    f"Set-Cookie: sid={SECRET}; Path=/",
    f"bob:{SECRET}@host is not known",
    f"nonnumeric port: '{SECRET}@host'",
    f"requests.get(url, auth=('bob', '{SECRET}'))",
    f"Elasticsearch(basic_auth=('bob', '{SECRET}'))",
    f"Elasticsearch(http_auth=['bob', '{SECRET}'])",
    f"Incorrect API key provided: sk-proj-{SECRET}123",
    f"refused: ghp_{SECRET}",
    f"refused: github_pat_{SECRET}",
    f"refused: glpat-{SECRET}",
    f"refused: xoxb-{SECRET}",
    f"refused: hf_{SECRET}",
    f"refused: AIza{SECRET}",
    f"refused: eyJhbGciOi.{SECRET}.{SECRET}",
    f"curl -u bob:{SECRET} http://host",
    f"search --password {SECRET} --api-key={SECRET}",
    f"AccountKey={SECRET};EndpointSuffix=x",
    f"aws_secret_access_key = {SECRET}",
    f"redis://:{SECRET}@host:1",
    f"jwt={SECRET} sessionid={SECRET} credentials={SECRET}",
    f"Proxy-Authorization: Basic {SECRET}",
    f"-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n{SECRET}\n-----END RSA",
]
NO_SECRETS = [
    "KeyError: 'id'",
    "missing key: title",
    "http://localhost:9200/search refused the connection",
    "mail somebody@example.org",
    "Unexpected token < in JSON at position 3",
    "Unexpected token: <!DOCTYPE",
    "mailto:somebody@example.org",
    "error code=404, its process ended, code 3",
    "authors = [3]",
    "TypeError: sort() got an unexpected keyword argument",
]
OWN = {  # variables of the environment, and whether their values are hidden
    "MY_API_KEY": ("correct horse", True),
    "GITHUB_TOKEN": ("a/b+c=d?e", True),
    "DB_PASSWORD": ('with "quotes"', True),
    "AWS_SECRET": ("übergeheim", True),
    "TOKENIZERS_PARALLELISM": ("false", False),
    "TOKEN_LIMIT": ("100000", False),
    "PWD": ("/no/such/place", False),
    "SSH_AUTH_SOCK": ("/no/such/socket", False),
    "LANG": ("de_DE.UTF-8", False),
}
# of what a stranger says, over and over: each begins like a secret and goes on for ever
REPEATED = ["password", "//:", 'key="', "key='", "a:", "bearer ", "cookie", "auth=("]
REPEATED += ["-----BEGIN PRIVATE KEY-----", "eyJabcd.", "sk-", "token:", "--a-key", "@"]
REPEATED += ["https:///", " -u a", 'secret"\\', "nonnumeric port: '", "?code=", "a.b+"]


@pytest.mark.parametrize("text", [*SECRETS, *NO_SECRETS])
def test_an_error_is_kept_without_its_secrets(text):
    shown = without_secrets(text)
    assert SECRET not in shown
    assert (shown == text) == (text in NO_SECRETS)
    assert without_secrets(shown) == shown


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize(
    "said", ["refused: {}", "https://host/?q={}", '{{"asked": "{}"}}', "{}{}"]
)
def test_what_the_environment_keeps_secret_is_not_shown(monkeypatch, name, said):
    value, is_hidden = OWN[name]
    monkeypatch.setenv(name, value)
    for form in (value, quote(value, ""), json.dumps(value)[1:-1]):
        text = said.format(form, form)
        assert (form not in without_secrets(text)) == is_hidden


@pytest.mark.parametrize("end", ["", "@", '"', "'"])
@pytest.mark.parametrize("part", REPEATED)
def test_a_long_text_takes_a_moment(part, end):
    started = time.process_time()
    shown = without_secrets(part * 50_000 + end)
    assert time.process_time() - started < 1
    assert len(shown) <= LONGEST_TEXT + 1


AROUND = st.text(st.sampled_from("abc…\n .,;<>{}[]()/éש"), max_size=30)


@given(AROUND, st.sampled_from(SECRETS), AROUND)
def test_a_secret_is_hidden_whatever_stands_around_it(before, secret, after):
    assert SECRET not in without_secrets(f"{before} {secret}\n{after}")


def test_a_terminal_gets_no_sequences_and_nothing_that_turns_the_text():
    assert printable("a\x1b[2Jb\u202ec\u2066d\u2028e\u200bf\x9bg") == "a[2Jbcdefg"
    assert printable("שלום\u200f 👩\u200d🔬\t\n") == "שלום\u200f 👩\u200d🔬\t\n"
