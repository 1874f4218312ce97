import type * as ajvPackage from 'ajv/dist/2020.js';
import type * as re2jsPackage from 're2js';

export const ajv: () => typeof ajvPackage;
export const re2js: () => typeof re2jsPackage;
