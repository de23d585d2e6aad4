-- What a service keeps beside campaigns: which of them were ended. It has no version of its own.

CREATE SCHEMA IF NOT EXISTS unimodal_service;
CREATE TABLE IF NOT EXISTS unimodal_service.ended (name text PRIMARY KEY);
