/** Resolves the entries of the package, such as `tracejury/evaluators`, to their sources. Outside of the tests they lead to what is built. */
import { registerHooks } from 'node:module';
import packageJson from '../../package.json' with { type: 'json' };

const sources = new Map(
  Object.entries(packageJson.exports).flatMap(([entry, target]) =>
    typeof target === 'string'
      ? []
      : [[`${packageJson.name}${entry.slice(1)}`, target.default.replace('dist/', '').replace(/\.js$/, '.ts')] as const],
  ),
);

registerHooks({
  resolve(name, context, next) {
    const source = sources.get(name);
    return next(source === undefined ? name : new URL(`../../${source}`, import.meta.url).href, context);
  },
});
