import hashlib
import hmac
import secrets

ITERATIONS = 200_000


def hash_password(password, salt=None):
    salt = salt or secrets.token_bytes(16)
    return salt, hashlib.pbkdf2_hmac("sha256", password.encode(), salt, ITERATIONS)


def check_password(user, password):
    salt, expected = user.secret
    return hmac.compare_digest(expected, hash_password(password, salt)[1])


def issue_session_token(user):
    token = secrets.token_urlsafe(32)
    user.sessions[token] = True
    return token


def revoke_sessions(user):
    user.sessions.clear()
