"""Ways from one symbol to another: `call_path` follows calls, `described` finds ends that are told in words.

`shared` names what leads on where no call does.
"""
