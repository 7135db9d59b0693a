% Wiregauge for MATLAB and Octave: measure the link between a computer and a device.
%
% Measure, with the wiregauge program. Options are its flags in CamelCase; units are in the help of each function.
%   exchange       - Measure request/response exchanges: RTT, jitter, throughput, losses.
%   stream         - Measure one-way data streams: rate, losses, gaps.
%   loop           - Measure the shortest stable latency of a continuous acquire-process-output loop.
%   tune           - Find the best settings of a link, and confirm them with a new run.
%
% Stored runs
%   loadRun        - Load a stored run: plan, conditions, a struct for each point, and all samples.
%   Run            - A stored run, as wiregauge.exchange, stream, loop and loadRun return it.
%   explain        - Explain where the time of a run goes and what limits it; predict other settings.
%   deadline       - Report how often a control loop would miss its deadline.
%   control        - Report what the measured delays do to a control loop: stability, cost, step response.
%   compare        - Compare two runs, or two sets of runs, and test what differs.
%   report         - Make a page of one run or several, with all tables and figures, or write the figures as files.
%
% Figures
%   plotHistogram  - Histogram of the RTT, one panel for each point of a run.
%   plotTrt        - RTT and TRT against depth, with the ideal TRT = RTT / depth.
%   plotThroughput - Throughput against response size, one line per depth.
%   savePicture    - Save a figure as PNG or SVG, according to the file name.
%
% Without a device
%   limits         - Compute the maximum throughput of a medium, by the specifications.
%
% Your own bytes, with the MEX file
%   open           - Open a device to exchange your own bytes with.
%   Device         - An open device: exchange your own bytes, one at a time, in batches or in a pipeline.
%
% Plain M-code, which queues requests ahead: help wiregauge.pure.compare
%
% Examples are in matlab/examples: measure_link, ask_instrument, check_control_loop, find_setting. The manual is docs/matlab.md.
% This list is help wiregauge in MATLAB, help wiregauge.Contents in Octave.
