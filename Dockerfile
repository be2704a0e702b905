FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# Two thirds of the installed bytes are Prisma's runtimes for other databases, which are never loaded.
RUN npm ci --omit=dev \
 && find node_modules/@prisma/client/runtime \( -name '*.mysql.*' -o -name '*.sqlite.*' -o -name '*.sqlserver.*' -o -name '*.cockroachdb.*' -o -name '*.map' \) -delete

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data DEMO=off
WORKDIR /app
RUN mkdir /data && chown node:node /data
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN chmod +x dist/main.js && ln -s /app/dist/main.js /usr/local/bin/deposit-gateway
COPY package.json ./
COPY prisma ./prisma
USER node
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.PORT+'/ready').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# `docker run IMAGE migrate` runs another command. Node is the first process, which gets the signals.
ENTRYPOINT ["node", "--", "/app/dist/main.js"]
CMD ["serve"]
