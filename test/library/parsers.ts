/** What reads the code blocks of an answer: the heaviest of what is imported. */
export const parsers = [
  '@lezer/css',
  '@lezer/rust',
  '@rgrove/parse-xml',
  '@sveltejs/acorn-typescript',
  'acorn',
  'acorn-jsx',
  'php-parser',
  'py-ast',
  'unbash',
  'yaml',
];
