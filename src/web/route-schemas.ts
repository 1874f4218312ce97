/** Compiles the schemas of a route at its first request: together they take a fifth of a second at each start, and few are used. */
import { AjvCompiler } from '@fastify/ajv-compiler';
import type { FastifySchema, FastifySchemaCompiler } from 'fastify';

export function compiledWhenUsed(): FastifySchemaCompiler<FastifySchema> {
  let compile: ReturnType<ReturnType<typeof AjvCompiler>> | undefined;
  return ({ schema }) => {
    let validate: ReturnType<NonNullable<typeof compile>> | undefined;
    const compiled = (): NonNullable<typeof validate> => {
      compile ??= AjvCompiler()({}, { customOptions: { removeAdditional: false } });
      return compile({ schema });
    };
    return (value: unknown) => {
      validate ??= compiled();
      return validate(value) === true ? { value } : { error: validate.errors ?? [] };
    };
  };
}
