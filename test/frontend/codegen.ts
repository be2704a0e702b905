import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: '../../schema.graphql',
  documents: 'src/**/*.graphql',
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        strictScalars: true,
        useTypeImports: true,
        scalars: {
          DateTimeISO: 'string',
          Decimal: 'string',
          JSON: 'unknown',
          JSONObject: 'object',
          LocalDate: 'string',
          SafeInt: 'number',
        },
      },
    },
  },
};
export default config;
