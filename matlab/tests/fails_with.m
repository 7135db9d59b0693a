function message = fails_with(identifier, action)
%FAILS_WITH  Hold an action to an error.
%   message = fails_with(identifier, action) calls the function handle and returns the message of its error, which must have that
%   identifier.

try
    action();
catch problem
    if ~strcmp(problem.identifier, identifier)
        error('expected %s, got %s: %s', identifier, problem.identifier, problem.message);
    end
    message = problem.message;
    return
end
error('expected %s, but there was no error', identifier);
end
