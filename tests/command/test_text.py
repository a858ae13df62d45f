"""words.text: no secret gets into files, pages and the terminal."""

import pytest

from evaluate_retrieval.words.text import without_secrets

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
]
NO_SECRETS = [
    "KeyError: 'id'",
    "missing key: title",
    "http://localhost:9200/search refused the connection",
    "mail somebody@example.org",
    "Unexpected token < in JSON at position 3",
]


@pytest.mark.parametrize("text", [*SECRETS, *NO_SECRETS])
def test_an_error_is_kept_without_its_secrets(text):
    shown = without_secrets(text)
    assert SECRET not in shown
    assert (shown == text) == (text in NO_SECRETS)
    assert without_secrets(shown) == shown
