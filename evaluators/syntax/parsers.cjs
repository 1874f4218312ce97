/* Parsers of code; each loads with the first text in its language. A CommonJS file, as its users are synchronous and bundlers follow `require`. */
'use strict';

exports.acorn = () => require('acorn');
exports.acornJsx = () => require('acorn-jsx');
exports.acornTypescript = () => require('@sveltejs/acorn-typescript');
exports.lezerCss = () => require('@lezer/css');
exports.lezerRust = () => require('@lezer/rust');
exports.parseXml = () => require('@rgrove/parse-xml');
exports.phpParser = () => require('php-parser');
exports.pyAst = () => require('py-ast');
exports.unbash = () => require('unbash');
exports.yaml = () => require('yaml');
