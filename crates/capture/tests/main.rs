//! The reader, the writer and the analysis of captures from outside.

mod definitions;
mod field_reports;
mod frames;
mod loss_and_rtt;
mod matching;
mod packet_log;
mod properties;
mod reader;
mod story;
mod written_files;
