// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * A dumbbell for ns-3: bulk TCP flows over one drop-tail bottleneck, measured in CPU time.
 *
 * Written against ns-3's public API, for `make bench-peers`. ns-3 is GPL-2.0-only: the program that comes from compiling
 * this file is made on the user's machine and is not distributed; whoever distributes it does so under GPL-2.0, which MIT permits.
 *
 * The network is the smallest that has this bottleneck, so that ns-3 has as few events as possible: two nodes, one
 * point-to-point link whose forward device has the bottleneck's rate and queue, and whose way back is fast. All senders
 * are on one node, all receivers on the other. No tracing, no statistics, no traffic-control layer.
 *
 * Prints one line: packets that crossed the bottleneck, CPU nanoseconds of the event loop, peak memory in kB, goodput in bit/s.
 */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <ctime>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

const std::map<std::string, std::string> CONGESTION_CONTROLS = {
    {"cubic", "ns3::TcpCubic"},
    {"bbr", "ns3::TcpBbr"},
    {"reno", "ns3::TcpLinuxReno"},
};

/** CPU time of this process, user and system. */
uint64_t
CpuNs()
{
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000ULL + now.tv_nsec;
}

/** Ends the simulation once it has taken that much CPU time; some runs would take hours. */
void
StopAt(uint64_t limitNs)
{
    if (CpuNs() >= limitNs)
    {
        Simulator::Stop();
        return;
    }
    Simulator::Schedule(MilliSeconds(10), &StopAt, limitNs);
}

/** One congestion control per flow, from "cubic:1,bbr:1". */
std::vector<std::string>
FlowsOf(const std::string& groups)
{
    std::vector<std::string> flows;
    std::stringstream list(groups);
    for (std::string group; std::getline(list, group, ',');)
    {
        const auto colon = group.find(':');
        const auto name = CONGESTION_CONTROLS.find(group.substr(0, colon));
        NS_ABORT_MSG_IF(colon == std::string::npos || name == CONGESTION_CONTROLS.end(),
                        "`" << group << "` is not like cubic:1; known: cubic, bbr, reno");
        flows.insert(flows.end(), std::stoul(group.substr(colon + 1)), name->second);
    }
    return flows;
}

/** The sender's and receiver's TCP, as close to dumbbell's as ns-3's attributes allow. */
void
ConfigureTcp(uint32_t mssBytes, uint32_t bufferBytes)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(mssBytes));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10)); // RFC 6928
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));  // RFC 5681, 4.2
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40))); // Linux's TCP_DELACK_MIN
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(bufferBytes));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(bufferBytes));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200))); // Linux's TCP_RTO_MIN
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::WindowScaling", BooleanValue(true));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string groups = "cubic:1,bbr:1";
    uint64_t linkRateBps = 50000000;
    uint64_t baseRttNs = 40000000;
    uint64_t bufferBytes = 250000;
    double durationS = 20;
    double startJitterS = 0.1;
    double cpuLimitS = 1e6;
    uint32_t mssBytes = 1448;
    uint32_t seed = 1;

    CommandLine command(__FILE__);
    command.AddValue("groups", "algorithms and flows, like cubic:1,bbr:1", groups);
    command.AddValue("rate", "link rate, bit/s", linkRateBps);
    command.AddValue("rtt", "base RTT, ns", baseRttNs);
    command.AddValue("buffer", "the bottleneck's queue, bytes", bufferBytes);
    command.AddValue("time", "simulated seconds", durationS);
    command.AddValue("limit", "CPU seconds after which the run ends early", cpuLimitS);
    command.AddValue("jitter", "flows start uniformly within these seconds", startJitterS);
    command.AddValue("mss", "segment size, bytes", mssBytes);
    command.AddValue("seed", "seed of the random numbers", seed);
    command.Parse(argc, argv);

    RngSeedManager::SetSeed(seed);
    const auto flows = FlowsOf(groups);
    // Twice what the path holds is never the limit. More makes ns-3 slower: it walks lists of what a socket holds.
    const uint64_t pathBytes = linkRateBps / 8 * baseRttNs / 1000000000 + bufferBytes;
    ConfigureTcp(mssBytes, std::min<uint64_t>(2 * pathBytes, 1000000000)); // window scaling ends at 1 GiB

    NodeContainer ends;
    ends.Create(2);
    PointToPointHelper link;
    link.DisableFlowControl(); // also keeps Ipv4AddressHelper from installing FQ-CoDel above the device
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(baseRttNs / 2)));
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(linkRateBps)));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, bufferBytes)));
    const auto devices = link.Install(ends);
    auto bottleneck = DynamicCast<PointToPointNetDevice>(devices.Get(0));
    auto back = DynamicCast<PointToPointNetDevice>(devices.Get(1));
    back->SetDataRate(DataRate(1000000000000ULL)); // ACKs are only delayed
    back->GetQueue()->SetMaxSize(QueueSize("1000000p"));

    InternetStackHelper().Install(ends);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const auto interfaces = addresses.Assign(devices);

    auto jitter = CreateObject<UniformRandomVariable>();
    ApplicationContainer sinks;
    for (size_t flow = 0; flow < flows.size(); ++flow)
    {
        const auto port = static_cast<uint16_t>(5000 + flow);
        // A socket takes the node's congestion control when it is created, at the application's start.
        const auto start = Seconds(jitter->GetValue(0, startJitterS));
        const auto type = TypeId::LookupByName(flows[flow]);
        Simulator::Schedule(start, [type, sender = ends.Get(0)] {
            sender->GetObject<TcpL4Protocol>()->SetAttribute("SocketType", TypeIdValue(type));
        });
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), port));
        source.SetAttribute("SendSize", UintegerValue(mssBytes));
        source.Install(ends.Get(0)).Start(start);
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.Add(sink.Install(ends.Get(1)));
    }

    Simulator::Stop(Seconds(durationS));
    const auto cpuStartNs = CpuNs();
    StopAt(cpuStartNs + static_cast<uint64_t>(cpuLimitS * 1e9));
    Simulator::Run();
    const auto cpuNs = CpuNs() - cpuStartNs;

    uint64_t receivedBytes = 0;
    for (uint32_t i = 0; i < sinks.GetN(); ++i)
    {
        receivedBytes += DynamicCast<PacketSink>(sinks.Get(i))->GetTotalRx();
    }
    const auto queue = bottleneck->GetQueue();
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    std::cout << queue->GetTotalReceivedPackets() - queue->GetNPackets() << " " << cpuNs << " " << usage.ru_maxrss << " "
              << static_cast<uint64_t>(8.0 * receivedBytes / Simulator::Now().GetSeconds()) << std::endl;
    Simulator::Destroy();
}
