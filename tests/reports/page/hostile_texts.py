"""What a model, a file or a problem may say to harm a page that shows it. Each would set `window.hit`,
open a dialog, ask for something, break the page's data or hide a part of it, where it were obeyed."""

from __future__ import annotations

SCRIPTS = [
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 2</script>",
    "</SCRIPT\t><script>alert(1)</script>",
    "<!--<script>",
    "--></script><img src=x onerror=\"window.hit = 3\">",
    "<img src=x onerror=alert(4)>",
    "<svg onload=alert(5)><animate onbegin=alert(6)>",
    "<svg><title></title><style><img src=x onerror=alert(7)></style></svg>",
    "<iframe srcdoc='<script>parent.hit = 8</script>'></iframe>",
    "<a href=\"javascript:window.hit = 9\">here</a>",
    "javascript:window.hit = 10",
    "data:text/html,<script>parent.hit = 11</script>",
    "<body onload=alert(12)><input autofocus onfocus=alert(13)>",
    "<form action=https://example.org><button>send</button></form>",
    "<meta http-equiv=refresh content='0;url=https://example.org'>",
    "<base href=https://example.org><link rel=stylesheet href=//example.org/x.css>",
    "</style><style>* { display: none !important }</style>",
    "</title><script>window.hit = 14</script>",
    "\" onmouseover=\"window.hit = 15\" x=\"",
    "' onfocus='window.hit = 16' autofocus='",
    "`${window.hit = 17}`",
    "${window.hit = 18} {{constructor.constructor('window.hit = 19')()}} <%= 20 %> #{21} *{22}",
    "\\u003cscript\\u003ewindow.hit = 23\\u003c/script\\u003e",
    "&lt;script&gt;window.hit = 24&lt;/script&gt; &amp;lt; &#60;script&#62; &nbsp;",
    "]]><![CDATA[<script>window.hit = 25</script>]]>",
    "__proto__", "constructor", "toString", "hasOwnProperty",
]  # fmt: skip
TEXTS = [
    "\u202egnirts desrever a\u202c", "\u2066isolated\u2069", "a\u200fb\u200ec",
    "\x1b[31mred\x1b[0m \x1b]0;title\x07", "\x00NUL\x00", "\x08\x08\x7f\x9b31m",
    "\ud800", "a\udfff\ud800b", "\ufdd0", "\ufeffmark", "line\u2028separator\u2029paragraph",
    "zero\u200bwidth\u200djoined", "e" + "\u0301" * 40, "\U0001f469\u200d\U0001f52c", "\r\n\tindented\n\n\nlines",
    "NaN", "null", "undefined", "-0", "1e999", "[object Object]", "  spaces  ", "%s %n %d", "' OR 1=1 --",
    "../../etc/passwd", "C:\\nul", "#problem/x/y", "p0", "told",
]  # fmt: skip
HOSTILE = [*SCRIPTS, *TEXTS]
UNSEEN = {
    *range(0x00, 0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0), 0x200E, 0x200F,
    *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000),
}  # fmt: skip


def shown(text: str) -> str:
    """As the page writes it: what has no form of its own as an escape."""
    return "".join(f"\\u{ord(c):04x}" if ord(c) in UNSEEN else c for c in text)
