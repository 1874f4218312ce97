/* Packages that many processes never use; each loads with its first user. A CommonJS file, as its users are synchronous and bundlers follow `require`. */
'use strict';

exports.ajv = () => require('ajv/dist/2020.js');
exports.re2js = () => require('re2js');
