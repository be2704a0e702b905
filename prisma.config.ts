// For Prisma's command line tool, which is no part of the project: `npx prisma@7.10.0 migrate status`.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
  datasource: { url: process.env.DATABASE_URL ?? '' },
};
