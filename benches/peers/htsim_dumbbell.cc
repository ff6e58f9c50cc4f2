// SPDX-License-Identifier: MIT OR Apache-2.0
// The scenario of `dumbbell.rs` in htsim, for `make bench-peers HTSIM=DIR`: its bare NewReno, whatever the groups' algorithms.
//
// Takes the same arguments and prints the same line. A packet is 1514 bytes, all of them data. ACKs are only delayed. The
// time is the event loop's alone, without loggers.

#include <sys/resource.h>
#include <time.h>

#include <cstring>
#include <iostream>
#include <list>
#include <string>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "tcp.h"

namespace
{

const int PACKET_BYTES = 1514;
const simtime_picosec JITTER_PS = 100'000'000'000; // flows start within 0.1 s
// How often htsim looks for timeouts: its own examples' value.
const simtime_picosec SCAN_PS = 10'000'000'000;

std::string Argument(int argc, char** argv, const std::string& name)
{
    const std::string prefix = "--" + name + "=";
    for (int i = 1; i < argc; ++i)
    {
        if (!std::strncmp(argv[i], prefix.c_str(), prefix.size()))
        {
            return argv[i] + prefix.size();
        }
    }
    std::cerr << "`" << prefix << "…` is missing; `make bench-peers` passes it\n";
    std::exit(2);
}

// How many flows there are in `cubic:1,bbr:1`.
int FlowsOf(const std::string& groups)
{
    int flows = 0;
    for (size_t at = groups.find(':'); at != std::string::npos; at = groups.find(':', at + 1))
    {
        flows += std::stoi(groups.substr(at + 1));
    }
    return flows;
}

uint64_t CpuNs()
{
    timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * 1'000'000'000ULL + time.tv_nsec;
}

} // namespace

int main(int argc, char** argv)
{
    const int flows = FlowsOf(Argument(argc, argv, "groups"));
    const uint64_t rateBps = std::stoull(Argument(argc, argv, "rate"));
    const uint64_t rttNs = std::stoull(Argument(argc, argv, "rtt"));
    const uint64_t bufferBytes = std::stoull(Argument(argc, argv, "buffer"));
    const double durationS = std::stod(Argument(argc, argv, "time"));
    srand(std::stoi(Argument(argc, argv, "seed")));
    Packet::set_packet_size(PACKET_BYTES);

    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(durationS));
    TcpRtxTimerScanner timeouts(SCAN_PS, events);
    Queue queue(rateBps, bufferBytes, events, nullptr);
    Pipe there(rttNs * 500, events), back(rttNs * 500, events);
    std::vector<TcpSink*> sinks;
    for (int flow = 0; flow < flows; ++flow)
    {
        auto source = new TcpSrc(nullptr, nullptr, events);
        auto sink = new TcpSink();
        timeouts.registerTcp(*source);
        auto out = new Route(), in = new Route();
        out->push_back(&queue);
        out->push_back(&there);
        out->push_back(sink);
        in->push_back(&back);
        in->push_back(source);
        source->connect(*out, *in, *sink, static_cast<simtime_picosec>(drand() * JITTER_PS));
        sinks.push_back(sink);
    }

    const uint64_t startNs = CpuNs();
    while (events.doNextEvent())
    {
    }
    const uint64_t cpuNs = CpuNs() - startNs;

    uint64_t crossedBytes = 0, receivedBytes = 0;
    for (TcpSink* sink : sinks)
    {
        crossedBytes += sink->_packets;
        receivedBytes += sink->_cumulative_ack;
    }
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::cout << crossedBytes / PACKET_BYTES << " " << cpuNs << " " << usage.ru_maxrss << " "
              << static_cast<uint64_t>(8.0 * receivedBytes / durationS) << std::endl;
}
